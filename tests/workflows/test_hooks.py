"""Hooks: who is asked, in what order, what their answers mean, and what runs in the end."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from interlock import (
    Block,
    ConfigError,
    DecisionTable,
    Hooks,
    Limits,
    Loop,
    Reply,
    Run,
    ToolCall,
    Usage,
    UsageError,
    chain,
    loop,
    tool,
    toolbus,
)
from interlock.harness import Ask, Ctx, Event, LoopState
from interlock.testing import ManualClock, scripted

from .conftest import Go
from .loops import Desk, Turns, asks, call, paths, says

Seen = list[Any]

NOBODY = "a person must be asked, and nobody can answer here: "
ANSWERS: dict[Any, str] = {
    None: "",
    Ask("sure?"): f"{NOBODY}sure?",
    Ask("really?"): f"{NOBODY}really?",
    Block("never"): "never",
    Block("never ever"): "never ever",
}
"""What a hook may answer, and what that refuses a call with."""


def one_call(go: Go, desk: Desk, hooks: Any, name: str = "remove", **options: Any) -> Any:
    """Run a loop whose model asks for one call."""
    turn = scripted(asks(call(name, key="a")), says("done"))
    return go(loop, "?", turn=turn, tools=desk.bus, hooks=hooks, **options)


def at(point: str, function: Any, **options: Any) -> Hooks:
    """Make hooks of one function at a point."""
    options[point] = function
    return Hooks(**options)


def fail(*_given: object) -> None:
    raise RuntimeError("guard is down")


class TestOrder:
    def test_all_rewrites_come_before_all_refusals(self, go: Go, desk: Desk) -> None:
        seen: Seen = []

        def hooks(name: str) -> Hooks:
            def rewrite(each: ToolCall, _effect: object) -> dict[str, object]:
                seen.append(f"rewrite {name} {each.args['key']}")
                return {"key": f"{each.args['key']}{name}"}

            def judge(each: ToolCall, _effect: object) -> None:
                seen.append(f"judge {name} {each.args['key']}")

            return Hooks(before_tool=judge, rewrite_tool=rewrite)

        one_call(go, desk, [hooks("1"), hooks("2")])

        assert seen == ["rewrite 1 a", "rewrite 2 a1", "judge 1 a12", "judge 2 a12"]
        assert desk.ran == ["remove a12"]

    def test_the_first_block_ends_the_asking(self, go: Go, desk: Desk) -> None:
        seen: Seen = []
        hooks = [
            Hooks(before_tool=lambda _c, _e: Block("first")),
            Hooks(before_tool=lambda _c, _e: seen.append("asked")),
        ]
        result = one_call(go, desk, hooks)

        assert (seen, str(result.rollout.blocked()[0].error)) == ([], "first")

    @pytest.mark.parametrize("point", ["before_tool", "before_turn"])
    def test_the_strictest_answer_wins_and_of_two_alike_the_first(
        self, go: Go, desk: Desk, point: str
    ) -> None:
        for answers in product(ANSWERS, repeat=3):
            hooks = [at(point, lambda *_given, answer=answer: answer) for answer in answers]
            result = one_call(go, desk, hooks)
            said = [ANSWERS[one] for one in answers if one is not None]
            strictest = sorted(said, key=lambda one: "never" not in one)[:1]

            assert [str(step.error) for step in result.rollout.blocked()] == strictest, answers
            assert desk.ran == ([] if strictest else ["remove a"]), answers
            desk.ran.clear()

    def test_the_strictest_of_the_rows_that_hold_too(self, go: Go, desk: Desk) -> None:
        when = [{"path": "name", "op": "equals", "expected": "remove"}]
        for outputs in product(["allow", "ask", "block"], repeat=3):
            rows = [
                {"id": f"r{at}", "when": when, "outputs": said} for at, said in enumerate(outputs)
            ]
            result = one_call(go, desk, [Hooks(before_tool=DecisionTable(rows, policy="collect"))])
            (step,) = result.rollout.find(kind="tool")
            is_asked = step.error is not None and "must be asked" in str(step.error)

            assert (step.status == "completed") == (set(outputs) == {"allow"}), outputs
            assert is_asked == ("ask" in outputs and "block" not in outputs), outputs

    def test_a_question_that_nobody_can_answer_blocks_and_says_so(self, go: Go, desk: Desk) -> None:
        result = one_call(go, desk, [Hooks(before_tool=lambda _c, _e: Ask("delete it?"))])
        (step,) = result.rollout.blocked()

        assert desk.ran == []
        assert str(step.error) == ("a person must be asked, and nobody can answer here: delete it?")

    def test_before_turn_may_ask_too(self, go: Go, desk: Desk) -> None:
        result = one_call(go, desk, [Hooks(lambda _state: Ask("go on?"))])

        assert (result.stopped_by, result.turns) == ("blocked", 0)
        assert "go on?" in str(result.error)

    def test_before_turn_is_not_asked_at_a_ceiling(self, go: Go, desk: Desk) -> None:
        seen: Seen = []
        hooks = Hooks(lambda state: seen.append(state.turn))
        turn = scripted(asks(call("lookup"), tokens=9), repeat=True)
        result = go(loop, "?", turn=turn, tools=desk.bus, hooks=[hooks], max_tokens=9)

        assert (seen, result.stopped_by) == ([0], "tokens")


def scripted_hook(answer: object) -> Any:
    return lambda _call, _effect: answer


class TestNesting:
    def test_hooks_of_the_run_come_first(self, go: Go, desk: Desk) -> None:
        seen: Seen = []

        def hooks(name: str) -> Hooks:
            return Hooks(before_tool=lambda _c, _e: seen.append(name))

        one_call(go, desk, [hooks("loop")], run=Run(hooks=[hooks("run")]))

        assert seen == ["run", "loop"]

    def test_an_inner_hook_can_only_add_refusals(self, go: Go, desk: Desk) -> None:
        outer = Hooks(before_tool=lambda _c, _e: Block("outer"))
        one_call(go, desk, [Hooks(before_tool=lambda _c, _e: None)], run=Run(hooks=[outer]))

        assert desk.ran == []

    @pytest.mark.parametrize("of_run", [True, False])
    def test_hooks_reach_loops_inside_tools(self, go: Go, desk: Desk, of_run: bool) -> None:
        seen: Seen = []
        inner = Loop(scripted(asks(call("remove", key="a")), says("in")), tools=desk.bus)

        @tool(effect="readonly")
        async def delegate() -> Any:
            return await inner.run("?")

        def guard(each: ToolCall, effect: object) -> Block | None:
            seen.append(each.name)
            return Block("no") if effect == "destructive" else None

        hooks = [Hooks(before_tool=guard)]
        options: Any = {"run": Run(hooks=hooks)} if of_run else {"hooks": hooks}
        turn = scripted(asks(call("delegate")), says("out"))
        result = go(loop, "?", turn=turn, tools=toolbus([delegate]), **options)

        assert (seen, desk.ran) == (["delegate", "remove"], [])
        assert result.rollout.step("turn_0/delegate").child.blocked()[0].name == "remove"

    def test_the_same_hooks_are_asked_once(self, go: Go, desk: Desk) -> None:
        seen: Seen = []
        hooks = Hooks(before_tool=lambda _c, _e: seen.append(1))
        one_call(go, desk, [hooks], run=Run(hooks=[hooks]))

        assert seen == [1]


class TestWhatIsShownIsWhatRuns:
    def test_both_forms_are_recorded(self, go: Go, desk: Desk) -> None:
        hooks = Hooks(rewrite_tool=lambda _c, _e: {"key": "safe"}, name="cleaner")
        result = one_call(go, desk, [hooks])
        step = result.rollout.step("turn_0/remove")

        assert desk.ran == ["remove safe"]
        assert step.meta["rewritten"] == {
            "asked": {"key": "a"},
            "args": {"key": "safe"},
            "by": ["cleaner"],
        }

    def test_a_refusal_records_what_was_shown(self, go: Go, desk: Desk) -> None:
        hooks = Hooks(
            before_tool=lambda each, _e: Block(f"not {each.args['key']}"),
            rewrite_tool=lambda _c, _e: {"key": "b"},
        )
        step = one_call(go, desk, [hooks]).rollout.blocked()[0]

        assert str(step.error) == "not b"
        assert step.meta["rewritten"]["args"] == {"key": "b"}

    def test_a_record_of_digests_holds_neither_form(self, go: Go, desk: Desk) -> None:
        hooks = Hooks(rewrite_tool=lambda _c, _e: {"key": "secret2"})
        turn = scripted(asks(call("remove", key="secret1")), says("done"))
        run = Run(content="digest")
        result = go(loop, "?", turn=turn, tools=desk.bus, hooks=[hooks], run=run)

        assert "secret" not in result.rollout.to_json()
        assert desk.ran == ["remove secret2"]

    @pytest.mark.parametrize("point", ["before_tool", "rewrite_tool", "after_tool"])
    def test_what_a_hook_does_to_its_copy_changes_nothing(
        self, go: Go, desk: Desk, point: str
    ) -> None:
        seen: Seen = []

        def meddle(each: ToolCall, _more: object) -> None:
            seen.append(dict(each.args))
            each.args["key"] = "all"  # type: ignore[index]

        hooks = [at(point, meddle), at(point, meddle)]
        one_call(go, desk, hooks)

        assert (seen, desk.ran) == ([{"key": "a"}] * 2, ["remove a"])

    def test_who_holds_the_reply_changes_nothing_either(self, go: Go, desk: Desk) -> None:
        args: dict[str, object] = {"key": "a"}

        def meddle(_call: ToolCall, _effect: object) -> None:
            args["key"] = "all"

        turn = scripted(Reply(calls=(ToolCall("1", "remove", args),)), says("x"))
        go(loop, "?", turn=turn, tools=desk.bus, hooks=[Hooks(before_tool=meddle)])

        assert desk.ran == ["remove a"]


class TestErrors:
    @pytest.mark.parametrize(
        ("on_error", "name", "ran"),
        [
            ("allow", "remove", ["remove a"]),
            ("block", "remove", []),
            ("block", "lookup", []),
            ({"destructive": "block"}, "remove", []),
            ({"destructive": "block"}, "lookup", ["lookup a"]),
            ({"destructive": "block", None: "block"}, "lookup", ["lookup a"]),
            ({"destructive": "allow", None: "block"}, "remove", ["remove a"]),
        ],
    )
    @pytest.mark.parametrize("point", ["before_tool", "rewrite_tool"])
    def test_what_a_fault_means(
        self, go: Go, desk: Desk, on_error: Any, name: str, ran: list[str], point: str
    ) -> None:
        result = one_call(go, desk, [at(point, fail, on_error=on_error)], name)

        assert (desk.ran, result.hook_errors, result.status) == (ran, 1, "completed")

    def test_undeclared_can_be_closed(self, go: Go, desk: Desk) -> None:
        hooks = Hooks(before_tool=fail, on_error={None: "block"})
        turn = scripted(asks(call("undeclared")), says("x"))
        result = go(loop, "?", turn=turn, tools=desk.bus, hooks=[hooks])

        assert (desk.ran, len(result.rollout.blocked())) == ([], 1)

    def test_the_model_is_not_told_what_the_guard_said(self, go: Go, desk: Desk) -> None:
        turn = Turns(asks(call("remove")), says("x"))
        hooks = Hooks(before_tool=fail, on_error="block", name="guard")
        go(loop, "?", turn=turn, tools=desk.bus, hooks=[hooks])
        (refused,) = turn.states[1].results

        assert refused.output == "blocked: `guard` could not be asked (RuntimeError)"

    @pytest.mark.parametrize(("on_error", "turns"), [("allow", 2), ("block", 0)])
    def test_before_turn(self, go: Go, desk: Desk, on_error: Any, turns: int) -> None:
        result = one_call(go, desk, [Hooks(fail, on_error=on_error)])

        assert (result.turns, result.stopped_by) == (turns, "quiet" if turns else "blocked")

    def test_it_is_an_event_and_a_fault_of_the_record(self, go: Go, desk: Desk) -> None:
        events: list[Event] = []
        run = Run(on_event=events.append)
        result = one_call(go, desk, [Hooks(before_tool=fail, name="guard")], run=run)
        (told,) = [event for event in events if event.event == "hook_error"]
        error = told.data["error"]

        assert told.path == "turn_0/remove"
        assert (told.data["hook"], told.data["point"]) == ("guard", "before_tool")
        assert isinstance(error, Mapping)
        assert error["message"] == "guard is down"
        assert [fault.message for fault in result.rollout.faults] == [
            "hook before_tool of guard: guard is down"
        ]

    @pytest.mark.parametrize(("on_error", "ran"), [("allow", ["remove a"]), ("block", [])])
    def test_one_that_takes_too_long(
        self, go: Go, desk: Desk, clock: ManualClock, on_error: Any, ran: list[str]
    ) -> None:
        async def slow(_call: ToolCall, _effect: object) -> None:
            await clock.sleep(6)

        run = Run(clock=clock)
        result = one_call(go, desk, [Hooks(before_tool=slow, on_error=on_error)], run=run)

        assert (desk.ran, result.hook_errors) == (ran, 1)
        assert "no answer within 5 s" in result.rollout.faults[0].message

    def test_one_that_ends_in_time(self, go: Go, desk: Desk, clock: ManualClock) -> None:
        async def slow(_call: ToolCall, _effect: object) -> Block:
            await clock.sleep(4)
            return Block("late")

        result = one_call(go, desk, [Hooks(before_tool=slow)], run=Run(clock=clock))

        assert (desk.ran, result.hook_errors) == ([], 0)

    def test_the_deadline_of_the_run_holds_inside(
        self, go: Go, desk: Desk, clock: ManualClock
    ) -> None:
        async def slow(_call: ToolCall, _effect: object) -> None:
            await clock.sleep(4)

        run = Run(clock=clock, limits=Limits(timeout=3))
        result = one_call(go, desk, [Hooks(before_tool=slow, timeout=None)], run=run)

        # The hook was ended with the run, and not waited for.
        assert (desk.ran, result.stopped_by, result.hook_errors) == ([], "deadline", 1)

    def test_sync_code_is_waited_for(self, go: Go, desk: Desk, clock: ManualClock) -> None:
        def slow(_call: ToolCall, _effect: object) -> Block:
            clock.advance(60)
            return Block("late, and clear")

        one_call(go, desk, [Hooks(before_tool=slow)], run=Run(clock=clock))

        assert desk.ran == []


NONSENSE: list[tuple[str, Any, str]] = [
    ("before_turn", True, "before_turn of `guard` returned a bool"),
    ("before_turn", "stop", "before_turn of `guard` returned a str"),
    ("before_tool", False, "before_tool of `guard` returned a bool"),
    ("before_tool", {"decision": "block"}, "before_tool of `guard` returned a dict"),
    ("rewrite_tool", "key=b", "rewrite_tool of `guard` returned a str"),
    ("rewrite_tool", True, "rewrite_tool of `guard` returned a bool"),
    ("rewrite_tool", {"key": float("nan")}, "rewrite_tool of `guard` returned what JSON cannot"),
    ("rewrite_tool", {"key": object()}, "rewrite_tool of `guard` returned what JSON cannot hold"),
    ("after_tool", Block("too late"), "after_tool of `guard` returned Block"),
    ("after_turn", Ask("?"), "after_turn of `guard` returned Ask"),
]


@pytest.mark.parametrize(("point", "answer", "said"), NONSENSE)
def test_an_answer_that_is_none_is_misuse(
    go: Go, desk: Desk, point: str, answer: object, said: str
) -> None:
    run = Run()
    hooks = at(point, lambda *_given: answer, name="guard")
    with pytest.raises(UsageError, match=said):
        one_call(go, desk, [hooks], run=run)

    assert run.rollout.stopped_by == "error"


class TestTables:
    ROWS = (
        {
            "id": "no-destruction",
            "when": [{"path": "effect", "op": "equals", "expected": "destructive"}],
            "outputs": {"decision": "block", "reason": "nothing is destroyed here"},
        },
        {
            "id": "ask-about-b",
            "when": [{"path": "args.key", "op": "equals", "expected": "b"}],
            "outputs": "ask",
        },
    )

    def run(self, go: Go, desk: Desk, table: DecisionTable, *calls: ToolCall) -> Any:
        turn = scripted(asks(*calls), says("done"))
        hooks = [Hooks(before_tool=table, name="policy")]
        return go(loop, "?", turn=turn, tools=desk.bus, hooks=hooks)

    def test_it_looks_at_name_arguments_and_effect(self, go: Go, desk: Desk) -> None:
        table = DecisionTable(self.ROWS, policy="first", otherwise="allow")
        calls = (call("lookup", key="a"), call("remove", key="a"), call("lookup", "id_2", key="b"))
        result = self.run(go, desk, table, *calls)
        steps = result.rollout.find(kind="tool")

        assert desk.ran == ["lookup a"]
        assert [step.status for step in steps] == ["completed", "blocked", "blocked"]
        assert str(steps[1].error) == "nothing is destroyed here"
        assert "the table says so by ask-about-b" in str(steps[2].error)

    def test_its_full_answer_is_recorded(self, go: Go, desk: Desk) -> None:
        table = DecisionTable(self.ROWS, policy="first", otherwise="allow")
        result = self.run(go, desk, table, call("lookup", key="a"), call("remove"))
        allowed, refused = (step.decision for step in result.rollout.find(kind="tool"))

        assert (allowed["hook"], allowed["fallback"]) == ("policy", True)
        assert refused["matchedIds"] == ["no-destruction"]
        assert allowed["tableHash"] == refused["tableHash"]

    def test_a_conflict_blocks(self, go: Go, desk: Desk) -> None:
        table = DecisionTable(self.ROWS, policy="unique", otherwise="allow")
        result = self.run(go, desk, table, call("remove", key="b"))
        (step,) = result.rollout.blocked()

        assert desk.ran == []
        assert "ask-about-b" in str(step.error)

    def test_an_undecided_row_blocks(self, go: Go, desk: Desk) -> None:
        row = {
            "id": "odd",
            "when": [{"path": "args.key", "op": "matches", "expected": "(a+)\\1"}],
            "outputs": "allow",
        }
        table = DecisionTable([row], policy="first", otherwise="allow")
        self.run(go, desk, table, call("remove", key="aa"))

        assert desk.ran == []

    def test_the_strictest_of_collected_rows_counts(self, go: Go, desk: Desk) -> None:
        rows = [self.ROWS[1], {**self.ROWS[0], "outputs": {"decision": "block"}}]
        table = DecisionTable(rows, policy="collect")
        result = self.run(go, desk, table, call("remove", key="b"))

        assert (desk.ran, result.rollout.blocked()[0].decision["outputs"]) == (
            [],
            ["ask", {"decision": "block"}],
        )

    def test_what_no_row_holds_for_passes_and_lint_says_so(self, go: Go, desk: Desk) -> None:
        table = DecisionTable(self.ROWS, policy="first")
        self.run(go, desk, table, call("lookup", key="a"))
        made = Loop(scripted(), hooks=[Hooks(before_tool=table, on_error="block")])

        assert desk.ran == ["lookup a"]
        assert [warning.field for warning in made.lint()] == ["hooks[0].before_tool"]

    def test_a_callable_may_return_what_a_table_says(self, go: Go, desk: Desk) -> None:
        table = DecisionTable(self.ROWS, policy="first")
        hooks = Hooks(before_tool=lambda each, effect: table.decide({"effect": effect}))
        result = one_call(go, desk, [hooks])

        assert (desk.ran, len(result.rollout.blocked())) == ([], 1)

    def test_outputs_that_say_nothing_are_refused(self) -> None:
        rows = [{**self.ROWS[0], "outputs": "maybe"}]
        with pytest.raises(ConfigError) as refused:
            Hooks(before_tool=DecisionTable(rows, policy="first", otherwise=3))

        assert [problem.field for problem in refused.value.problems] == [
            "hooks.before_tool.rows[0].outputs",
            "hooks.before_tool.otherwise",
        ]


class TestContext:
    def test_where_it_is(self, go: Go, desk: Desk) -> None:
        seen: Seen = []

        def look(*given: object) -> None:
            ctx = given[-1]
            assert isinstance(ctx, Ctx)
            seen.append(ctx.path)

        hooks = Hooks(
            lambda _state, ctx: look(ctx),
            lambda _call, _effect, ctx: look(ctx),
            lambda _call, _result, ctx: look(ctx),
            lambda _state, ctx: look(ctx),
            rewrite_tool=lambda _call, _effect, ctx: look(ctx),
            name="eye",
        )
        result = one_call(go, desk, [hooks])

        assert seen[:5] == [
            "turn_0/before_turn/eye",
            "turn_0/remove/rewrite_tool/eye",
            "turn_0/remove/before_tool/eye",
            "turn_0/remove/after_tool/eye",
            "turn_0/after_turn/eye",
        ]
        # Judgement that leaves no trace is no step.
        assert paths(result) == ["turn_0", "turn_0/remove", "turn_1"]

    def test_a_reading_of_the_clock_is_recorded(self, go: Go, desk: Desk) -> None:
        clock = ManualClock(5_000)
        hooks = Hooks(before_tool=lambda _c, _e, ctx: Block(str(ctx.now())), name="clocked")
        result = one_call(go, desk, [hooks], run=Run(clock=clock))
        step = result.rollout.step("turn_0/remove/before_tool/clocked")

        assert (step.kind, step.meta, result.hook_errors) == ("decision", {"now": [5_000]}, 0)
        assert str(result.rollout.blocked()[0].error) == "5000"

    @pytest.mark.parametrize("by_step", [True, False])
    def test_what_is_used_inside_counts(self, go: Go, desk: Desk, by_step: bool) -> None:
        model = scripted(Reply("yes", usage=Usage(7)), repeat=True)

        async def judged(_call: ToolCall, _effect: object, ctx: Ctx) -> None:
            if by_step:
                await ctx.step("ask", model, "?", kind="judge")
            else:
                await chain("?", [("ask", model)])

        result = one_call(go, desk, [Hooks(before_tool=judged)], max_tokens=7)

        assert result.usage == Usage(7)
        assert [step.usage.total for step in result.rollout.all_steps() if step.name == "ask"] == [
            7
        ]
        # The ceiling was reached before the tool.
        assert (result.stopped_by, desk.ran) == ("tokens", [])


class TestSetUp:
    @pytest.mark.parametrize(
        ("options", "fields"),
        [
            ({"before_turn": 3}, ["hooks.before_turn"]),
            ({"before_turn": lambda: None}, ["hooks.before_turn"]),
            ({"before_tool": lambda _call: None}, ["hooks.before_tool"]),
            ({"before_tool": lambda _a, _b, _c, _d: None}, ["hooks.before_tool"]),
            ({"after_tool": lambda: None}, ["hooks.after_tool"]),
            ({"rewrite_tool": "x"}, ["hooks.rewrite_tool"]),
            ({"on_error": "ignore"}, ["hooks.on_error"]),
            ({"on_error": None}, ["hooks.on_error"]),
            ({"on_error": {"deadly": "block"}}, ["hooks.on_error.deadly"]),
            ({"on_error": {None: "stop"}}, ["hooks.on_error.None"]),
            ({"timeout": 0}, ["hooks.timeout"]),
            ({"timeout": True}, ["hooks.timeout"]),
            ({"name": ""}, ["hooks.name"]),
            ({"name": "a/b"}, ["hooks.name"]),
            ({"before_tools": fail}, ["before_tools"]),
            (
                {"before_turn": 1, "on_error": 2, "timeout": -1},
                ["hooks.before_turn", "hooks.on_error", "hooks.timeout"],
            ),
        ],
    )
    def test_refused_with_every_field(self, options: dict[str, Any], fields: list[str]) -> None:
        with pytest.raises(ConfigError) as refused:
            Hooks(**options)

        assert [problem.field for problem in refused.value.problems] == fields

    @pytest.mark.parametrize("kind", [Block, Ask])
    @pytest.mark.parametrize("said", ["", None, 3])
    def test_a_reason_must_be_readable(self, kind: Any, said: object) -> None:
        with pytest.raises(ConfigError):
            kind(said)

    @pytest.mark.parametrize("given", [3, "x", fail, [fail], [Block("no")], Hooks()])
    def test_only_lists_of_hooks(self, given: Any) -> None:
        for make in (lambda: Run(hooks=given), lambda: Loop(scripted(), hooks=given)):
            with pytest.raises(ConfigError) as refused:
                make()
            assert refused.value.problems[0].field in ("hooks", "hooks[0]")

    def test_what_takes_any_number_fits(self, go: Go, desk: Desk) -> None:
        seen: Seen = []

        def look(*given: object) -> None:
            seen.append([type(one) for one in given])

        one_call(go, desk, [Hooks(look, look, None, look)], name="lookup")

        assert seen[:3] == [[LoopState], [ToolCall, str], [LoopState]]


class TestLint:
    @pytest.mark.parametrize(
        ("on_error", "warned"),
        [
            ("allow", ["remove", "undeclared"]),
            ("block", []),
            ({"destructive": "block"}, ["undeclared"]),
            ({"destructive": "block", None: "block"}, []),
        ],
    )
    def test_an_open_guard_is_warned_of(self, desk: Desk, on_error: Any, warned: list[str]) -> None:
        hooks = Hooks(before_tool=scripted_hook(None), on_error=on_error)
        warnings = Loop(scripted(), tools=desk.bus, hooks=[hooks]).lint()

        assert all(warning.is_warning for warning in warnings)
        assert [name for name in desk.bus.names if any(name in w.message for w in warnings)] == (
            warned
        )

    def test_nothing_to_warn_of(self, desk: Desk) -> None:
        guard = Hooks(before_tool=scripted_hook(None))

        assert Loop(scripted(), tools=desk.bus.only("lookup", "finish"), hooks=[guard]).lint() == ()
        assert Loop(scripted(), tools=desk.bus, hooks=[Hooks(after_turn=fail)]).lint() == ()
        assert Loop(scripted(), tools=desk.bus).lint() == ()

    def test_whoever_declares_nothing_is_warned_of(self) -> None:
        class Anything:
            async def invoke(self, each: ToolCall) -> str:
                return each.name

        guard = Hooks(before_tool=scripted_hook(None))

        assert len(Loop(scripted(), tools=Anything(), hooks=[guard]).lint()) == 1


def allow_all(_call: ToolCall, _effect: object) -> None:
    """Stand at the top of a module, as what is pickled must."""


def test_a_loop_with_hooks_can_be_pickled() -> None:
    made = Loop(str, hooks=[Hooks(before_tool=allow_all, on_error={None: "block"}, name="guard")])
    again = pickle.loads(pickle.dumps(made))  # noqa: S301

    assert again.digest == made.digest
    assert again.sync("?").stopped_by == "quiet"
