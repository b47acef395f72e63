"""Finds and fixes a failing test with a loop, tools and hooks; a scripted policy is the model.

    python examples/harness/fix_a_test.py --bug 1 --out fixed

The policy is a function of what the tools said: it knows neither the file nor the bug.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from interlock import Block, Hooks, Loop, Reply, ToolCall, finish, report, tool, toolbus
from interlock.harness import Limits, Run, StallDetect, replay

if TYPE_CHECKING:
    from interlock.harness import LoopState
    from interlock.harness.toolbus import ToolBus

PROJECT = Path(__file__).parent / "project"
FRAME = re.compile(r'File "([^"]+)", line (\d+)')
# Small edits that mend common slips, tried in this order on the line that the traceback names.
SLIPS = (
    (r"\+ 1", "+ 0"),
    (r"range\(len\((\w+)\)\)", r"range(len(\1) - 1)"),
    (r">=", ">"),
    (r"<=", "<"),
)


def tools_of(root: Path) -> ToolBus:
    """Return the tools, which reach nothing outside of `root`."""

    def inside(path: str) -> Path:
        found = (root / path).resolve()
        if not found.is_relative_to(root):
            message = f"{path!r} leaves the project"
            raise ValueError(message)
        return found

    @tool(effect="readonly", timeout=60)
    def run_tests() -> str:
        """Run the tests and return what they print."""
        command = [sys.executable, "-B", "-m", "unittest"]
        done = subprocess.run(  # noqa: S603 (a fixed command)
            command, cwd=root, capture_output=True, text=True, check=False, timeout=50
        )
        return done.stderr.replace(f"{root}/", "")

    @tool(effect="readonly")
    def list_files() -> str:
        """List the files of the project."""
        return "\n".join(sorted(path.name for path in root.glob("*.py")))

    @tool(effect="readonly")
    def read_file(path: str) -> str:
        """Read a file."""
        return inside(path).read_text(encoding="utf-8")

    @tool(effect="write")
    def edit_file(path: str, line: int, text: str) -> str:
        """Replace a line, counted from 1."""
        lines = inside(path).read_text(encoding="utf-8").splitlines()
        lines[line - 1] = text
        inside(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return f"line {line} of {path} is now {text.strip()}"

    @tool(effect="destructive")
    def delete_file(path: str) -> str:
        """Delete a file."""
        inside(path).unlink()
        return f"{path} is gone"

    return toolbus([run_tests, list_files, read_file, edit_file, delete_file, finish()])


def outputs(state: LoopState, name: str) -> list[str]:
    """Return what a tool said so far."""
    return [str(result.output) for result in state.results if result.name == name]


def call(state: LoopState, name: str, **args: object) -> Reply:
    """Ask for one tool."""
    return Reply(calls=(ToolCall(f"call-{state.turn}", name, args),))


def policy(state: LoopState) -> Reply:
    """Look around, run the tests, and again after each edit, until they pass."""
    files, runs = outputs(state, "list_files"), outputs(state, "run_tests")
    if not files:
        return call(state, "list_files")
    if not runs or state.results[-1].name == "edit_file":
        return call(state, "run_tests")
    if runs[-1].rstrip().endswith("OK"):
        return call(state, "finish", answer=(outputs(state, "edit_file") or ["all pass"])[-1])
    names = files[0].split()
    frames = [(path, int(line)) for path, line in FRAME.findall(runs[0])]
    named = [one for one in frames if one[0] in names and not one[0].startswith("test_")]
    if not named:
        return Reply("the traceback names no module of the project")
    return mend(state, *named[-1])


def mend(state: LoopState, path: str, line: int) -> Reply:
    """Read the module that the traceback names, and edit the line that it names."""
    read, edited = outputs(state, "read_file"), outputs(state, "edit_file")
    if not read:
        return call(state, "read_file", path=path)
    if not outputs(state, "delete_file"):  # A lazy way out, tried once: the hook refuses it.
        return call(state, "delete_file", path=path)
    code = read[0].splitlines()[line - 1]
    edits = [new for old, by in SLIPS if (new := re.sub(old, by, code, count=1)) != code]
    if len(edited) == len(edits):
        return Reply(f"no edit of line {line} of {path} helps")
    return call(state, "edit_file", path=path, line=line, text=edits[len(edited)])


def keep_files(call: ToolCall, effect: str | None) -> Block | None:
    """Refuse what destroys."""
    return Block(f"{call.name} destroys") if effect in ("destructive", "irreversible") else None


def unpack(bug: str, root: Path) -> None:
    """Write the project, and one bug over it."""
    root.mkdir(parents=True, exist_ok=True)
    for folder in (PROJECT, PROJECT / "bugs" / bug):
        for path in folder.glob("*.py.txt"):
            (root / path.stem).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")


async def main(bug: str, out: Path) -> None:
    """Fix, record, replay and report."""
    root = (out / "project").resolve()
    unpack(bug, root)
    fixer = Loop(
        policy,
        tools=tools_of(root),
        max_turns=20,
        hooks=[Hooks(before_tool=keep_files, name="keep-files", on_error="block")],
        stop=[StallDetect()],
        name="fix_a_test",
    )
    limits = Limits(max_steps=60, timeout=300)
    result = await fixer.run("make the tests pass", run=Run(limits=limits))
    for step in result.rollout.steps:
        if step.kind == "tool":
            sys.stdout.write(f"{step.path}: {step.status}\n")
    sys.stdout.write(f"{result.stopped_by} in {result.turns} turns: {result.output}\n")
    again = await replay(result.rollout, fixer, run=Run(limits=limits))
    sys.stdout.write(f"replay equal: {again.rollout == result.rollout}\n")
    shown = report(result.rollout)
    (out / "run.jsonl").write_text(result.rollout.to_json_lines(), encoding="utf-8")
    (out / "report.html").write_text(shown.to_html(), encoding="utf-8")
    (out / "report.md").write_text(shown.to_markdown(), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Fix a failing test.")
    parser.add_argument("--bug", choices=("1", "2"), default="1")
    parser.add_argument("--out", type=Path, required=True, help="a new folder")
    given = parser.parse_args()
    anyio.run(main, given.bug, given.out)
