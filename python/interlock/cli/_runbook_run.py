"""A person works through a procedure in a terminal: a line is a command, and each is logged."""

from __future__ import annotations

import shlex
import signal
import sys
from typing import TYPE_CHECKING, Any, cast, get_args

import anyio
import click

from interlock.cli._commands import standard_input
from interlock.cli._runbook_card import card_lines
from interlock.cli._runbook_inputs import inputs_of, value_of
from interlock.cli._runbook_lint import policies
from interlock.cli._runbook_log import LogFile, unfinished
from interlock.errors import InterlockError
from interlock.record.report._text import visible
from interlock.supervise import (
    AdapterCoverage,
    Answer,
    Deployment,
    ProposedCall,
    Supervisor,
    derive_policy,
)
from interlock.supervise._draft import policy_in_force
from interlock.supervise.card import way_out
from interlock.supervise.parts import Via

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from types import FrameType

    from interlock.cli._runbook import RunOptions
    from interlock.cli._runbook_log import Log
    from interlock.harness._clock import Clock
    from interlock.supervise import Policy, RunState

__all__ = ["driven"]

HELP = """\
card                                  the step where the run stands
call TOOL [NAME=VALUE ...]            may this be called? arguments also as one JSON object
observe [CALL] completed|failed|in_doubt [NAME=VALUE ...]   what became of it, and its output
evidence NAME=VALUE ...               what the step must show, or what a decision goes by
done [STEP] [by=NAME] [via=EDGE]      leave the step
fail CODE [by=NAME]                   the step has failed
answer [QUESTION] yes|no NAME [NOTE]  what a person says to an open question
wait SECONDS                          let time go by (in a rehearsal)
stop [CODE]                           end the run from outside
finish                                say that the work is done
quit                                  leave; the run stays where it is"""

_NOT_AT_A_TERMINAL = 3
_OUTCOMES = ("completed", "failed", "in_doubt")


class _Misused(Exception):
    """A line that is no command."""


def driven(file: str, others: Sequence[str], options: RunOptions) -> int:
    """Drive a run by the lines of standard input.

    Returns:
        0 when it ended at a terminal; 1 when it did not start; 3 when it ended elsewhere or not.
    """
    policy = derive_policy(file, runbooks=policies(others))
    log = _resumed(policy, options) if options["resume"] else None
    inputs = inputs_of(policy, options["inputs"], options["inputs_file"])
    # The event loop would hold an interrupt back until the line that is being typed has ended.
    kept = signal.signal(signal.SIGINT, _interrupted)
    try:
        return anyio.run(_drive, policy, inputs, options, log)
    finally:
        signal.signal(signal.SIGINT, kept)


def _interrupted(number: int, frame: FrameType | None) -> None:
    signal.default_int_handler(number, frame)


def _resumed(policy: Policy, options: RunOptions) -> Log:
    if options["log"] is None:
        raise click.UsageError("--resume goes on with the run of a log: say which by --log")
    begin = {"--profile": "profile", "--as": "who", "--run-id": "run_id", "--seconds": "seconds"}
    if told := [name for name, key in begin.items() if options.get(key) is not None]:
        raise click.UsageError(f"--resume goes by what the log says: leave out {', '.join(told)}")
    return unfinished(options["log"], policy)


async def _drive(
    policy: Policy, inputs: dict[str, object], options: RunOptions, log: Log | None
) -> int:
    clock = _rehearsal(log) if options["rehearse"] else None
    deployment = Deployment(options["profile"] or "R1", AdapterCoverage(True, True, True))
    store = LogFile(options["log"], log)
    sup = Supervisor(policy, store=store, deployment=deployment, clock=clock)
    state: RunState | None = None
    try:
        state = await _begun(sup, inputs, options, log)
        if state is None:
            return 1
        if not state.is_over:
            _show(card_lines(sup.card()))
        await _Terminal(sup, state.agent_identity, clock).read()
    finally:
        store.close(None if state is None else sup.state)
    state = sup.state
    click.echo(f"{state.run_id}: {state.outcome or f'stands at {state.current}'}")
    return 0 if state.is_over and state.current in policy.terminals else _NOT_AT_A_TERMINAL


def _rehearsal(log: Log | None) -> Clock:
    """Return a clock from 0, or from where the run of a log was."""
    from interlock.testing import ManualClock

    last = None if log is None or log.state is None else log.state.last_now
    return ManualClock(round(1000 * (last or 0)), ids="rehearsal")


async def _begun(
    sup: Supervisor, inputs: dict[str, object], options: RunOptions, log: Log | None
) -> RunState | None:
    """Begin a run, or go on with the one of a log; None where it is refused, which is told."""
    if log is not None and log.state is not None:
        return await sup.load(log.state.run_id, secrets=inputs)
    began = await sup.start(
        agent_identity=options["who"] or "operator",
        inputs=inputs,
        wall_clock_seconds=options["seconds"],
        run_id=options["run_id"],
    )
    for refusal in began.refusals:
        click.echo(f"refused: {visible(refusal.message)} [{refusal.code}]")
    return began.state


def _show(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(visible(line))


class _Terminal:
    """A run and the lines that drive it."""

    def __init__(self, sup: Supervisor, who: str, clock: Clock | None) -> None:
        self.sup, self.who, self.clock = sup, who, clock

    async def read(self) -> None:
        """Take line after line until the run is over, or nobody says more."""
        stdin = standard_input()
        while not self.sup.state.is_over:
            if sys.stdin.isatty():
                click.echo("> ", nl=False)
            # What is no UTF-8 is no command either.
            line = stdin.readline().decode("utf-8", "replace")
            if not line or line.strip() == "quit":
                return
            try:
                await self._made(shlex.split(line, comments=True))
            except (_Misused, InterlockError, ValueError) as error:
                click.echo(f"? {visible(str(error))}; help lists the commands")

    async def _made(self, words: list[str]) -> None:
        if not words:
            return
        if words[0] == "card":
            _show(card_lines(self.sup.card()))
            return
        commands: dict[str, Callable[[list[str]], Awaitable[Any]]] = {
            "call": self.call,
            "observe": self.observe,
            "evidence": self.evidence,
            "done": self.done,
            "fail": self.fail,
            "answer": self.answer,
            "wait": self.wait,
            "stop": self.stop,
            "finish": self.finish,
        }
        if words[0] not in commands:
            click.echo(HELP)
            return
        where = self.sup.state.path
        moved = await commands[words[0]](words[1:])
        if moved is not None:
            self._tell(moved, where)

    def _tell(self, moved: Any, where: tuple[str, ...]) -> None:
        if hasattr(moved, "verdict"):
            click.echo(visible(f"{moved.verdict} {moved.code}: {moved.message}"))
        for event in moved.events:
            if event.message not in getattr(moved, "message", ""):
                click.echo(visible(f"  {event.kind} {event.code}: {event.message}"))
        if self.sup.state.path != where and not self.sup.state.is_over:
            _show(card_lines(self.sup.card()))

    async def call(self, words: list[str]) -> object:
        """Propose a call."""
        tool, *rest = _needs(words, 1, "call TOOL [NAME=VALUE ...]")
        return await self.sup.propose(ProposedCall(tool, args=_pairs(rest), actor=self.who))

    async def observe(self, words: list[str]) -> object:
        """Say what became of a call."""
        if words and words[0] in _OUTCOMES:
            words = [_only([one.call_id for one in self.sup.state.open], "open call"), *words]
        call, outcome, *rest = _needs(words, 2, "observe [CALL] completed|failed|in_doubt")
        return await self.sup.observe(call, cast("Any", outcome), output=_pairs(rest) or None)

    async def evidence(self, words: list[str]) -> object:
        """Show what the step must show, or the facts of a decision."""
        shown = _pairs(_needs(words, 1, "evidence NAME=VALUE ..."))
        if self.sup.card().kind == "decision":
            return await self.sup.decide(shown)
        return await self.sup.verify(shown, by=self.who)

    async def done(self, words: list[str]) -> object:
        """Leave the step."""
        named = dict(word.split("=", 1) for word in words if "=" in word)
        targets = [word for word in words if "=" not in word]
        target, via = way_out(self.sup.card(), targets[0] if targets else None)
        if not target or len(targets) > 1 or named.keys() - {"by", "via"}:
            raise _Misused("say where to: done STEP [by=NAME] [via=EDGE]")
        via = cast("Any", named.get("via", via))
        self._spelled(target, via)
        return await self.sup.advance(target, via=via, by=named.get("by"))

    def _spelled(self, target: str, via: object) -> None:
        """Take what is no step and no edge for a slip, where a wrong one would be a departure."""
        here = policy_in_force(self.sup.policy, self.sup.state)
        if target not in {*here.steps, *here.terminals}:
            raise _Misused(f"there is no step or terminal {target}")
        if via is not None and via not in get_args(Via):
            raise _Misused(f"via is one of {', '.join(get_args(Via))}")

    async def fail(self, words: list[str]) -> object:
        """Say that the step has failed."""
        code, *rest = _needs(words, 1, "fail CODE [by=NAME]")
        by = rest[0].removeprefix("by=") if rest and rest[0].startswith("by=") else None
        if len(rest) > (by is not None):
            raise _Misused("it is: fail CODE [by=NAME]")
        return await self.sup.fail(code, by=by)

    async def answer(self, words: list[str]) -> object:
        """Take what a person says."""
        if words and words[0] in ("yes", "no"):
            words = [_only([one.id for one in self.sup.state.pending], "open question"), *words]
        question, said, by, *note = _needs(words, 3, "answer [QUESTION] yes|no NAME [NOTE]")
        if said not in ("yes", "no"):
            raise _Misused(f"say yes or no, not {said}")
        given = Answer(question, by, approve=said == "yes", note=" ".join(note))
        return await self.sup.answer(given)

    async def wait(self, words: list[str]) -> None:
        """Let time go by."""
        text = _needs(words, 1, "wait SECONDS")[0]
        try:
            seconds = float(text)
        except ValueError:
            raise _Misused(f"{text} is no number of seconds") from None
        if self.clock is None or not 0 <= seconds <= 10**9:
            raise _Misused("only a rehearsal has a clock that is moved, and it moves on")
        await self.clock.sleep(seconds)

    async def stop(self, words: list[str]) -> object:
        """End the run from outside."""
        return await self.sup.stop(words[0] if words else "operator/stopped", by=self.who)

    async def finish(self, words: list[str]) -> object:
        """Say that the work is done."""
        del words
        return await self.sup.finish()


def _only(known: list[str], what: str) -> str:
    """Return the one thing that can be meant."""
    if len(known) != 1:
        raise _Misused(f"there are {len(known)} {what}s: say which")
    return known[0]


def _needs(words: list[str], count: int, usage: str) -> list[str]:
    if len(words) < count:
        raise _Misused(f"it is: {usage}")
    return words


def _pairs(words: Sequence[str]) -> dict[str, object]:
    """Read `name=value` words, or one JSON object."""
    if len(words) == 1 and words[0].startswith("{"):
        read = value_of(words[0])
        if isinstance(read, dict):
            return cast("dict[str, object]", read)
        raise _Misused("this is no JSON object")
    found: dict[str, object] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise _Misused(f"{word} is not NAME=VALUE")
        found[name] = value_of(value)
    return found
