"""A procedure on real files: a folder that is too full, and tools that really delete."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from interlock import Reply, ToolCall, finish, loop, tool, toolbus
from interlock.supervise import Answer, Supervisor, derive_policy, simulate, verify_run
from interlock.testing import ManualClock

LIMIT = 1_000
ROOM = derive_policy(
    {
        "runbook": "1",
        "id": "make-room",
        "inputs": {"folder": {"type": "string"}},
        "tools": [
            {"id": "file:list", "effect": "readonly"},
            {
                "id": "file:delete",
                "effect": "destructive",
                "args": [{"path": "name", "op": "matches", "expected": r"^[a-z0-9-]+\.log$"}],
            },
        ],
        "steps": [
            {
                "id": "measure",
                "kind": "check",
                "tools": ["file:list"],
                "verify": {
                    "from": "tool",
                    "checks": [{"path": "bytes", "op": "lessThanOrEqual", "expected": LIMIT}],
                },
                "next": "room",
                "on_failure": "delete",
            },
            {
                "id": "delete",
                "tools": ["file:delete"],
                "gate": {"approvers": ["ann"], "separate_from": "requester"},
                "verify": {
                    "from": "tool",
                    "checks": [{"path": "deleted", "op": "equals", "expected": True}],
                },
                "next": "measure",
                "on_failure": "given-up",
                "rollback": "given-up",
            },
        ],
        "terminals": [{"id": "room", "outcome": "room-made"}, {"id": "given-up"}],
        "budgets": {"edges": {"delete->measure": 3}, "calls": 20},
    }
)
CAPABILITIES = {"list_files": "file:list", "delete": "file:delete"}


def tools_of(folder: Path) -> Any:
    @tool(effect="readonly")
    def list_files() -> dict[str, Any]:
        """List the files with their sizes, the largest first, and their sum."""
        sizes = {one.name: one.stat().st_size for one in folder.iterdir()}
        largest = sorted(sizes, key=lambda name: (-sizes[name], name))
        return {"bytes": sum(sizes.values()), "largest": largest}

    @tool(effect="destructive")
    def delete(name: str) -> dict[str, bool]:
        """Delete a file."""
        (folder / name).unlink()
        return {"deleted": True}

    return toolbus([list_files, delete, finish()])


class Worker:
    """What would be a model: it looks, deletes the largest log, and looks again."""

    def __init__(self, sup: Supervisor, tries: tuple[str, ...] = ()) -> None:
        self.sup, self.tries, self.count = sup, list(tries), 0
        self.seen: list[str] = []

    def call(self, tool_name: str, /, **args: Any) -> Reply:
        self.count += 1
        return Reply(calls=(ToolCall(f"c{self.count}", tool_name, args),))

    def __call__(self, _state: Any) -> Reply:
        if self.sup.state.is_over:
            return self.call("finish", answer=self.sup.state.outcome)
        card = self.sup.card()
        done = any(one.tool in CAPABILITIES.values() for one in self.sup.state.open)
        assert not done
        if self.tries:
            return self.call("delete", name=self.tries.pop())
        if card.verified:
            return self.call("runbook_done")
        last = [entry for entry in self.sup.log if entry.operation == "observe"]
        if card.step == "delete":
            shown: Any = last[-1].given["output"]
            return self.call("delete", name=shown["largest"][0])
        here = [entry for entry in last if entry.seq > self._entered()]
        return self.call("runbook_failed", reason="too-full") if here else self.call("list_files")

    def _entered(self) -> int:
        moved = [
            entry.seq
            for entry in self.sup.log
            if any(event.kind in ("advanced", "started") for event in entry.events)
        ]
        return moved[-1]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize(
    ("sizes", "outcome", "left"),
    [
        ({"a.log": 600, "b.log": 500, "keep.txt": 90}, "room-made", {"b.log", "keep.txt"}),
        ({"a.log": 100}, "room-made", {"a.log"}),
        ({f"{at}.log": 900 - at for at in range(3)}, "room-made", {"2.log"}),
        ({f"{at}.log": 900 - at for at in range(6)}, "budget-exhausted", {"4.log", "5.log"}),
    ],
    ids=["one", "none", "two", "budget"],
)
def test_room_is_made_on_real_files(
    backend: str, sizes: dict[str, int], outcome: str, left: set[str], tmp_path: Path
) -> None:
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(b"x" * size)

    async def work() -> tuple[Supervisor, Any]:
        sup = Supervisor(
            ROOM,
            clock=ManualClock(),
            capabilities=CAPABILITIES,
            on_question=lambda question: Answer(question.id, "ann", approve=True),
        )
        await sup.start(agent_identity="agent", inputs={"folder": str(tmp_path)})
        tools = sup.bus(tools_of(tmp_path))
        return sup, await loop("make room", turn=Worker(sup), tools=tools, max_turns=60)

    sup, result = anyio.run(work, backend=backend)
    assert (result.error, result.stopped_by, result.answer) == (None, "finished", outcome)
    assert {one.name for one in tmp_path.iterdir()} == left
    told = sup.report()
    assert told.calls["allowed"] == told.calls["completed"]
    assert {one.used_by for one in told.approvals} == {
        entry.given["call_id"]
        for entry in sup.log
        if entry.operation == "propose"
        and entry.verdict == "allow"
        and entry.given["tool"] == "file:delete"
    }
    assert verify_run(ROOM, sup.log).ok
    assert simulate(ROOM, sup.log).differences == ()


def test_what_is_out_of_the_folder_stays_where_it_is(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside.log"
    inside.mkdir()
    (inside / "a.log").write_bytes(b"x" * 2_000)
    outside.write_bytes(b"x")
    asked: list[object] = []

    async def work() -> Supervisor:
        sup = Supervisor(
            ROOM,
            clock=ManualClock(),
            capabilities=CAPABILITIES,
            on_question=lambda question: asked.append(question.args["name"]),
        )
        await sup.start(agent_identity="agent", inputs={"folder": str(inside)})
        turn = Worker(sup, ("../outside.log", "../outside.log", "a.log"))
        await loop("x", turn=turn, tools=sup.bus(tools_of(inside)), max_turns=6)
        return sup

    sup = anyio.run(work)
    assert outside.exists()
    assert (inside / "a.log").exists()
    # What was out of scope where the run stood was refused: nobody was troubled with it.
    assert set(asked) == {"a.log"}
    assert len(sup.report().blocked) >= 3
