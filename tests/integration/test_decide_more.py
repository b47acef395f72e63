"""`interlock decide` and `lint` with scores and rosters."""

from pathlib import Path

from .command import interlock

SCORE = """\
tool: RuleScore
version: "1"
rules:
  - id: size
    points: 0.7
    when: [{ path: seats, op: greaterThan, expected: 100 }]
  - id: plan
    points: 0.1
    when: [{ path: plan, op: equals, expected: trial }]
bands: [{ name: hot, min: 0.8 }, { name: cold, min: 0 }]
"""

ROSTER = """\
tool: LeadAssign
strategy: round_robin
owners:
  - { id: ann, when: [{ path: lead, op: exists }] }
  - { id: bo, when: [{ path: lead, op: exists }] }
  - { id: cy, when: [{ path: lead, op: exists }], available: false }
"""


def test_a_score(tmp_path: Path) -> None:
    spec = tmp_path / "score.yaml"
    spec.write_text(SCORE)
    records = b'{"seats":500,"plan":"trial"}\n{"seats":5,"plan":"trial"}\n'
    ran = interlock("decide", spec, "--summary", stdin=records)
    assert [(0.8, "hot"), (0.1, "cold")] == [(row["score"], row["band"]) for row in ran.rows]
    assert "missed" not in ran.rows[0]
    assert {"hot", "cold"} <= set(ran.err.split())
    told = interlock("decide", spec, "--explain", stdin=records).rows
    assert [[], ["size"]] == [[rule["id"] for rule in row["missed"]] for row in told]


def test_a_roster_goes_on_from_line_to_line(tmp_path: Path) -> None:
    spec = tmp_path / "roster.yaml"
    spec.write_text(ROSTER)
    records = b'{"lead":1}\n{"lead":2}\n{}\n{bad\n{"lead":3}\n{"lead":4}\n'
    ran = interlock("decide", spec, "--explain", stdin=records)
    owners = [row.get("owner", "error") for row in ran.rows]
    assert ["ann", "bo", None, "error", "ann", "bo"] == owners
    assert [True, True, False] == [owner["eligible"] for owner in ran.rows[0]["considered"]]


def test_faults_have_their_places(tmp_path: Path) -> None:
    spec = tmp_path / "score.yaml"
    spec.write_text(SCORE.replace("min: 0.8", "min: .nan").replace("points: 0.1", "points: ten"))
    ran = interlock("lint", spec)
    assert 1 == ran.code
    spec.write_text(SCORE.replace("min: 0.8", "min: high").replace("points: 0.1", "points: ten"))
    lines = interlock("lint", spec).lines
    assert [("8", "rules[1].points"), ("10", "bands[0].min")] == [
        (line.removeprefix(str(spec)).split(":")[1], line.split(": ")[1]) for line in lines
    ]
