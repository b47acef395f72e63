"""What counts as evidence of an error: whole kinds of signals, in the core as in the reference."""

from __future__ import annotations

from typing import Any

import pytest

from interlock import ErrorClassify
from oracle import classify as reference
from oracle.error_packs import load_packs

CLASSIFIER = ErrorClassify()


def answer(**signals: Any) -> dict[str, object]:
    """The answer, which the reference gives too."""
    found = CLASSIFIER.classify_data(signals).to_dict()
    assert reference(signals) == found
    return found


def matched(**signals: Any) -> object:
    return answer(**signals)["matched"]


class TestPacks:
    @pytest.mark.parametrize(
        ("name", "text", "signals"),
        [
            ("git", "fatal: not a git repository", {"command": "git", "exitCode": 128}),
            ("shell", "No space left on device", {"command": "cat notes.txt", "exitCode": 1}),
            ("docker", "write: no space left on device", {"command": "docker", "exitCode": 9}),
        ],
    )
    def test_what_a_program_prints_is_no_evidence(
        self, name: str, text: str, signals: dict[str, Any]
    ) -> None:
        assert str(matched(**signals, message=text)).startswith(f"{name}/")
        assert matched(**signals, stdout=text) == matched(**signals)

    def test_some_programs_print_their_errors(self) -> None:
        text = "Interrupted: 2 errors during collection"
        for field in ("stdout", "message"):
            signals = {"exitCode": 2, field: f"ERROR collecting a.py\n{text}"}
            assert "pytest/collection_error" == matched(command="pytest", **signals)
        assert {"pytest", "terraform"} == {n for n, p in load_packs().items() if p.get("stdout")}

    def test_a_named_rule_needs_the_name_of_its_pack(self) -> None:
        full = {"message": "write: no space left on device"}
        for signals in ({"command": "podman build ."}, {"provider": "DockerHub"}):
            assert "docker/disk_full" == matched(**full, **signals)
        for other in ({"command": "ls"}, {"headers": {}}, {"provider": "nobody"}):
            assert "docker/disk_full" != matched(**full, **other)

    def test_no_rule_repeats_the_programs_of_its_pack(self) -> None:
        for pack in load_packs().values():
            programs = sorted(pack.get("commands", ()))
            for rule in pack["rules"]:
                assert not programs or sorted(rule.get("commands", ())) != programs
                assert rule.get("named", True) is True
