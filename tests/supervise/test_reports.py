"""Faults that people met in supervised runs elsewhere, as inputs with the right outcome."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.supervise import (
    AdapterCoverage,
    Deployment,
    Procedure,
    RunbookInvalid,
    check_inputs,
    derive_policy,
    refusals_to_start,
)

from .documents import DISK

REPORTS: dict[str, dict[str, Any]] = {
    report["id"]: report
    for report in map(
        json.loads, Path(__file__).with_name("reports.jsonl").read_text().splitlines()
    )
}

MISSING = {"rep-T-06", "rep-U-02", "rep-U-06", "rep-U-08", "rep-U-10"}
"""Those of running operations, which are not there yet. It ends empty."""

TESTED = {"rep-U-09"}


def test_every_report_is_tried() -> None:
    assert set(REPORTS) == TESTED | MISSING
    assert set() == TESTED & MISSING


def test_rep_U_09_what_cannot_be_followed_is_refused_before_anything_runs(tmp_path: Path) -> None:
    report = REPORTS["rep-U-09"]
    not_found, empty, missing, low = report["input"]["cases"]
    assert not_found == {"runbook": "not found"}
    with pytest.raises(FileNotFoundError):
        derive_policy(tmp_path / "runbook.yaml")

    document = {"runbook": "1", "id": "x", "terminals": [{"id": "done"}], **empty["runbook"]}
    for strict in (True, False):
        with pytest.raises(RunbookInvalid, match="runbook/no-entry"):
            derive_policy(document, strict=strict)

    policy = derive_policy(DISK)
    refused = check_inputs(policy.inputs, {"host": "db1"}).refusals
    assert [missing["required input missing"]] == [one.field for one in refused]

    assert low["minimum R2"] is True
    procedure = Procedure(low["highest risk"], "human-with-agent", min_runtime_profile="R2")
    full = AdapterCoverage(True, True, True)
    deployment = Deployment(low["client"], full, risk_ceiling=low["ceiling"])
    said = " and ".join(one.code for one in refusals_to_start(procedure, deployment))
    assert f"two refusals at once: {said}" == report["expected"][3]
