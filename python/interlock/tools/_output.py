"""Answers as lines of output: what is answered again and again is written once and kept."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

from interlock.tools._batch import BadLine, Batch
from interlock.tools._error_verdict import ErrorVerdict, ErrorVerdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock._wire import WireForm

__all__ = ["Block", "Written", "counted", "joined"]

Block: TypeAlias = "Batch[Any] | ErrorVerdicts"
"""Answers to a piece of a text."""
_KEPT = 1 << 16
_SIZE = 1 << 20


class Written:
    """Gives blocks of answers as lines."""

    def __init__(self) -> None:
        """Know no line yet."""
        self._known: dict[object, bytes] = {}

    def lines(self, block: Block) -> list[bytes]:
        """Give the line of each answer."""
        return self._errors(block) if isinstance(block, ErrorVerdicts) else self._batch(block)

    def _batch(self, batch: Batch[Any]) -> list[bytes]:
        codes, known = batch.indices.tolist(), self._known
        if new := {*codes} - known.keys():
            # Written backwards, so that the first record of an outcome stays.
            places = dict(zip(reversed(codes), reversed(range(len(codes))), strict=True))
            known.update((code, _line(batch[places[code]])) for code in new)
        lines = [known[code] for code in codes]
        for place in (*batch.undetermined, *batch.bad):
            lines[place] = _line(batch[place])
        return lines

    def _errors(self, verdicts: ErrorVerdicts) -> list[bytes]:
        if len(self._known) > _KEPT:
            self._known.clear()
        lines: list[bytes] = []
        for row in verdicts.rows():
            line = self._known.get(row)
            if line is None:
                line = _line(row if isinstance(row, BadLine) else ErrorVerdict(*row))
                self._known[row] = line
            lines.append(line)
        return lines


def counted(block: Block) -> Counter[str]:
    """Count the answers by outcome."""
    if not isinstance(block, ErrorVerdicts):
        return block.counts()
    counts = block.counts().items()
    found = Counter({f"{kind} / {action}": count for (kind, action), count in counts})
    found[BadLine.outcome] += len(block.bad)
    return +found


def joined(lines: list[bytes]) -> Iterator[bytes]:
    """Join lines to pieces of a bounded size, a longer line on its own."""
    step = max(1, _SIZE // max(map(len, lines), default=1))
    return (b"".join(lines[at : at + step]) for at in range(0, len(lines), step))


def _line(answer: WireForm) -> bytes:
    return answer.to_json().encode() + b"\n"
