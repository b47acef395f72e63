"""How well structured a document is, and skeletons made of prose."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.supervise import (
    RunbookInvalid,
    capability_class_of,
    derive_policy,
    document_profile,
    from_markdown,
)
from interlock.supervise.capability import is_capability, matches, meets, named_in

from .documents import ALL_EXAMPLES, SOUND, changed

HEADINGS = """\
# Drain a node

A node must be rebooted, and nothing that runs on it may be lost.
It takes a while.

## Before

1. Read this.

## 1. Cordon the node

```bash
$ kubectl cordon "$NODE"
sudo systemctl status kubelet
# kubectl delete is not what you want
```

## Step 2: Drain it

```console
$ kubectl drain "$NODE"
node/a drained
```

### Note

## 3) Reboot

Now reboot **it**.

## Afterwards

Nothing.
"""
LISTED = (
    "Rotate a key\n\n1. Make a new key\n   and keep the old.\n2. Roll it out\n3. Make a new key\n"
)
TASKS = "# Check\n\n- [ ] Look\n- [x] Look again\n"


@pytest.mark.parametrize(
    ("text", "titles", "ids"),
    [
        (
            HEADINGS,
            ["Cordon the node", "Drain it", "Reboot"],
            ["cordon-the-node", "drain-it", "reboot"],
        ),
        (
            LISTED,
            ["Make a new key", "Roll it out", "Make a new key"],
            ["make-a-new-key", "roll-it-out", "make-a-new-key-2"],
        ),
        (TASKS, ["Look", "Look again"], ["look", "look-again"]),
        ("# Done\n\n1. Done\n", ["Done"], ["done-2"]),
        ("1. \u2014\n2. \u4e00\n", ["\u2014", "\u4e00"], ["step", "step-2"]),
        ("Only prose.\n\n```\n1. not a step\n```\n", [], []),
        ("", [], []),
    ],
)
def test_steps_are_found(text: str, titles: list[str], ids: list[str]) -> None:
    made: Any = from_markdown(text)
    steps = made.document["steps"]

    assert (titles, ids) == ([one["title"] for one in steps], [one["id"] for one in steps])
    assert ("P1" if titles else "P0") == made.profile == document_profile(f"{text}\n")
    assert [*ids[1:], "done"] == [one["next"] for one in steps] or not ids


def test_programs_become_tools_and_their_effects_are_missing() -> None:
    made: Any = from_markdown(HEADINGS)

    assert ["cli:kubectl", "cli:systemctl"] == [one["id"] for one in made.document["tools"]]
    assert [["cli:kubectl", "cli:systemctl"], ["cli:kubectl"], None] == [
        one.get("tools") for one in made.document["steps"]
    ]
    missing = {(one.code, one.field) for one in made.missing}
    assert {
        ("runbook/effect-undeclared", "tools[0].effect"),
        ("lint/no-failure-route", "steps[1].on_failure"),
        ("lint/no-duration", "duration"),
    } <= missing


def test_title_and_summary_are_taken_over() -> None:
    document = from_markdown(HEADINGS).document

    assert ("Drain a node", "drain-a-node") == (document["title"], document["id"])
    summary = "A node must be rebooted, and nothing that runs on it may be lost. It takes a while."
    assert summary == document["summary"]


def test_a_skeleton_can_be_filled_in_until_nothing_is_missing() -> None:
    document: Any = from_markdown(LISTED).document
    document["duration"] = "<5m"
    for step in document["steps"]:
        step["on_failure"] = "done"

    assert "P2" == document_profile(document)
    assert 3 == derive_policy(document).max_moves


@pytest.mark.parametrize("text", ["x" * ((1 << 20) + 1), "1. a\n" * 501])
def test_it_has_bounds(text: str) -> None:
    with pytest.raises(RunbookInvalid, match="over the limit"):
        from_markdown(text)


class TestProfiles:
    def test_all_three(self) -> None:
        assert ["P2"] * len(ALL_EXAMPLES) == [document_profile(path) for path in ALL_EXAMPLES]
        assert "P2" == document_profile(SOUND)
        assert "P1" == document_profile(changed(("duration", ...)))
        assert "P1" == document_profile({"steps": [{"id": "a"}]})
        assert "P0" == document_profile(changed(("steps", [])))
        assert "P0" == document_profile({})


class TestCapabilities:
    @pytest.mark.parametrize(
        ("capability", "kind"),
        [
            ("cli:kubectl", "cli"),
            ("cli:kubectl delete pod x", "cli"),
            ("mcp:x:y", "mcp"),
            ("http", "http"),
            ("a1-b:c", "a1-b"),
            ("CLI:x", None),
            ("", None),
            (None, None),
            ("9p:x", None),
            (":x", None),
            ("cli\n:x", None),
            ("cli ", None),
            ("\u0441li:x", None),
            (3, None),
        ],
    )
    def test_the_class_is_a_word_or_nothing(self, capability: Any, kind: str | None) -> None:
        assert kind == capability_class_of(capability)

    @pytest.mark.parametrize(
        ("pattern", "capability", "answer"),
        [
            ("cli:a", "cli:a", True),
            ("cli:a", "cli:ab", False),
            ("cli:a*", "cli:ab", True),
            ("cli:*", "cli:", True),
            ("cli:a*b", "cli:axb", False),
            ("mcp:crm/*", "mcp:crm", False),
        ],
    )
    def test_a_star_stands_for_any_rest(
        self, pattern: str, capability: str, *, answer: bool
    ) -> None:
        assert answer is matches(pattern, capability)

    @pytest.mark.parametrize(
        ("one", "other", "answer"),
        [
            ("cli:a", "cli:a", True),
            ("cli:*", "cli:a", True),
            ("cli:*", "cli:a*", True),
            ("cli:ab*", "cli:a*", True),
            ("cli:ab", "cli:a*", True),
            ("cli:a", "cli:ab*", False),
            ("cli:a*", "cli:b*", False),
        ],
    )
    def test_patterns_meet(self, one: str, other: str, *, answer: bool) -> None:
        assert answer is meets(one, other) is meets(other, one)

    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("Use cli:kubectl.", ("cli:kubectl",)),
            ("(mcp:crm/get_person), then file:edit", ("mcp:crm/get_person", "file:edit")),
            ("http://host/x and https://b", ()),
            ("http:api.example.org/", ("http:api.example.org",)),
            ("mycli:x, cli: x, a/cli:x", ()),
            ("cli:a cli:a", ("cli:a",)),
            ("own:thing", ()),
        ],
    )
    def test_a_text_names_them(self, text: str, names: tuple[str, ...]) -> None:
        assert names == named_in(text)

    def test_classes_of_ones_own_are_seen(self) -> None:
        assert ("own:thing",) == named_in("own:thing", frozenset({"own"}))

    @pytest.mark.parametrize("text", ["", "cli:", "CLI:x", "cli:a b", "cli:a*b", "cli\t:x", "*"])
    def test_what_is_none(self, text: str) -> None:
        assert not is_capability(text)
