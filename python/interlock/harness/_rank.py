"""Which tools fit a question best: BM25 over their names and descriptions."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Ranking"]

_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75
"""k1 and b of BM25, the values in common use."""
_DIGITS = 9
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Ranking:
    """Texts by name, ready to be asked which fit a question.

    Okapi BM25 (Robertson and Zaragoza, 2009, "The Probabilistic Relevance Framework"), with the
    weight of a word that never falls below 0: ln(1 + (N - n + 0.5) / (n + 0.5)). Words are runs of
    letters and digits, in any case; `getUser` and `get_user` are both two.
    """

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        """Count the words of each text, its name included."""
        self._counts = {name: Counter(_words(f"{name} {text}")) for name, text in texts}
        self._lengths = {name: sum(count.values()) for name, count in self._counts.items()}
        total = sum(self._lengths.values())
        self._mean = total / len(self._counts) if total else 1.0
        self._holders = Counter(word for count in self._counts.values() for word in count)

    def best(self, query: str, most: int) -> list[str]:
        """Return so many names, the best first; of equal ones the first by name."""
        words = sorted(set(_words(query)))
        # Rounded, so that the last bit of a logarithm on some machine turns no order round.
        scores = {name: round(self._score(name, words), _DIGITS) for name in self._counts}
        return sorted(scores, key=lambda name: (-scores[name], name))[:most]

    def _score(self, name: str, words: list[str]) -> float:
        count, size = self._counts[name], len(self._counts)
        norm = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * self._lengths[name] / self._mean
        score = 0.0
        for word in words:
            if word in count:
                holders = self._holders[word]
                weight = math.log(1 + (size - holders + 0.5) / (holders + 0.5))
                often = count[word]
                score += weight * often * (_SATURATION + 1) / (often + _SATURATION * norm)
        return score


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(_HUMP.sub(" ", text))]
