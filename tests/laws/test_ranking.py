"""The ranking of tools: any question gives a list, the same whatever order the tools came in."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from interlock.harness._rank import Ranking

TEXTS = st.dictionaries(
    st.text("abc_XY", min_size=1, max_size=4),
    st.text("ab cX\u00e9\u4e16-", max_size=12) | st.text(max_size=12),
    max_size=9,
)


@given(TEXTS, st.text("abc X\u4e16", max_size=9) | st.text(max_size=9), st.integers(1, 9))
def test_any_question_gives_a_list(texts: dict[str, str], query: str, most: int) -> None:
    names = Ranking(texts.items()).best(query, most)

    assert len(names) == min(most, len(texts)) == len(set(names))
    assert set(texts) >= set(names)


@given(TEXTS, st.text("abc X", max_size=9), st.randoms(use_true_random=False))
def test_the_order_of_the_tools_does_not_matter(
    texts: dict[str, str], query: str, chance: Any
) -> None:
    mixed = [*texts.items()]
    chance.shuffle(mixed)

    assert Ranking(mixed).best(query, 9) == Ranking(texts.items()).best(query, 9)


@given(TEXTS)
def test_without_a_word_in_common_names_decide(texts: dict[str, str]) -> None:
    assert Ranking(texts.items()).best("", 9) == sorted(texts)[:9]
