"""Compare what a case expects with what an implementation answered.

Only the listed fields count. A listed field is equal all the way down, with three
exceptions: the report lists named in ``PARTIAL`` hold entries of which only the listed fields
count, ``NAME_mentions`` lists texts that the text in ``NAME`` has to hold, and ``absent``
lists fields that must not be there.
"""

from collections.abc import Mapping, Sequence

from .values import equal, kind

PARTIAL = (
    "results",
    "failures",
    "evaluated",
    "considered",
    "waiting",
    "unreachable",
    "skipped",
    "missed",
)
MENTIONS = "_mentions"


def matches_expectation(expect: Mapping[str, object], actual: object) -> list[str]:
    """Give one line for every difference; none means that the answer is as expected."""
    return _compare_fields(expect, actual, "")


def missing_mentions(mentions: object, text: str) -> list[str]:
    """Give the texts that should be held by ``text`` and are not."""
    assert isinstance(mentions, Sequence)
    return [mention for mention in mentions if mention not in text]


def _compare_fields(expect: Mapping[str, object], actual: object, where: str) -> list[str]:
    """Compare the listed fields of one object."""
    if not isinstance(actual, Mapping):
        return [f"{where or 'the answer'} is no object: {actual!r}"]
    differences: list[str] = []
    for field, wanted in expect.items():
        name = f"{where}.{field}" if where else field
        if field == "absent":
            assert isinstance(wanted, Sequence)
            differences += [f"{where}: {key} should be absent" for key in wanted if key in actual]
        elif field.endswith(MENTIONS):
            text = actual.get(field.removesuffix(MENTIONS))
            if not isinstance(text, str):
                differences.append(f"{name}: no text but {text!r}")
            else:
                lost = missing_mentions(wanted, text)
                differences += [f"{name}: {mention!r} is not in {text!r}" for mention in lost]
        elif field not in actual:
            differences.append(f"{name} is missing, expected {wanted!r}")
        elif field in PARTIAL and isinstance(wanted, list):
            differences += _compare_entries(wanted, actual[field], name)
        elif not equal(wanted, actual[field]):
            differences.append(f"{name} is {actual[field]!r}, expected {wanted!r}")
    return differences


def _compare_entries(expect: list[object], actual: object, where: str) -> list[str]:
    """Compare a report list: as many entries, in this order, each at least as listed."""
    if not isinstance(actual, list | tuple):
        return [f"{where} is no list: {actual!r}"]
    if len(actual) != len(expect):
        return [f"{where} has {len(actual)} entries, expected {len(expect)}: {actual!r}"]
    differences: list[str] = []
    for index, (wanted, entry) in enumerate(zip(expect, actual, strict=True)):
        place = f"{where}[{index}]"
        if kind(wanted) == "object" and isinstance(wanted, Mapping):
            differences += _compare_fields(wanted, entry, place)
        elif not equal(wanted, entry):
            differences.append(f"{place} is {entry!r}, expected {wanted!r}")
    return differences
