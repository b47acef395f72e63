"""Runs the two plans: one with a caller's choice, one whose judge changes its mind.

    python examples/routing/run_examples.py

The callables stand for agents; whatever they do, the routers read what was written down.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import anyio

from interlock import Branch
from interlock.routing import Plan, PlanResult, RunFolder, StepInput, run_workflow, write_choice

HERE = Path(__file__).parent
JUDGE = Branch(
    [
        {"name": "publish", "when": [{"path": "words", "op": "greaterThan", "expected": 5}]},
        {"name": "rework", "when": [{"path": "words", "op": "exists"}]},
    ]
)
DRAFTS = ("Too short.\n", "A text that says all that there is to say.\n")


def put(given: StepInput, name: str, text: str) -> str:
    """Write a file into the folder of a step."""
    folder = Path(given.folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return text


def people(given: StepInput) -> str:
    """Find or read people."""
    return put(given, "people.json", f'{{"by": "{given.step.id}"}}\n')


def draft(given: StepInput) -> str:
    """Write, and better the second time."""
    return put(given, "draft.md", DRAFTS[given.visit - 1])


def judge(given: StepInput) -> str:
    """Count words, and decide by a rule."""
    text = Path(given.run.step_path("draft"), "draft.md").read_text(encoding="utf-8")
    facts = {"words": len(text.split())}
    put(given, "notes.md", f"{facts['words']} words\n")
    return write_choice(given.run, given.step.id, from_=JUDGE.decide(facts))


def publish(given: StepInput) -> str:
    """Publish."""
    return put(given, "page.html", "<p>published</p>\n")


async def main(workspace: Path) -> list[PlanResult]:
    """Run both plans in a workspace."""
    homes = {name: workspace / name for name in ("people", "review")}
    plans = {name: Plan.load(HERE / name / "plan.json") for name in homes}
    asked = await run_workflow(
        plans["people"],
        {"find": people, "look": people},
        RunFolder(homes["people"], "asked"),
        route_selections={"pick": "search"},
    )
    tried = await run_workflow(
        plans["review"],
        {"draft": draft, "judge": judge, "publish": publish},
        RunFolder(homes["review"], "second-try"),
    )
    return [asked, tried]


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for name, run_id in (("people", "asked"), ("review", "second-try")):
        shutil.rmtree(target / name / "runs" / run_id, ignore_errors=True)
    for result in anyio.run(main, target):
        sys.stdout.write(f"{result.status}: {' > '.join(result.ran)}\n")
