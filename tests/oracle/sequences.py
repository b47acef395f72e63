"""Which steps can run now, by the rules as they are told: one step after another."""

from collections.abc import Mapping

from .checks import verify_list
from .instants import read, write
from .operations import short
from .tools import decide

MAX_STEPS = 256
DEAD = ("failed", "skipped", "unreachable")

Json = Mapping[str, object]


def verify_steps(given: Json) -> list[Json]:
    """Read the steps; whatever is wrong with them is refused."""
    steps = given.get("steps")
    if not isinstance(steps, list | tuple) or not 0 < len(steps) <= MAX_STEPS:
        raise ValueError(f"steps are a list of 1 to {MAX_STEPS}")
    ids: list[str] = []
    for step in steps:
        name = step.get("id") if isinstance(step, Mapping) else None
        if not isinstance(name, str) or not name:
            raise ValueError(f"one of the steps has no id: {short(step)}")
        if name in ids:
            raise ValueError(f"two steps have the id {name!r}")
        ids.append(name)
    for step in steps:
        if "when" in step and not verify_list(step["when"]):
            raise ValueError(f"step {step['id']!r}: the condition list is empty")
        for need in step.get("needs", ()):
            if need not in ids or need == step["id"]:
                raise ValueError(f"step {step['id']!r} needs {need!r}")
        if "after" in step:
            read(step["after"], f"after of step {step['id']!r}")
    for step in steps:
        refuse_circle(step, {other["id"]: other for other in steps}, [])
    return list(steps)


def needs_of(step: Json) -> list[str]:
    """The ids that a step needs."""
    needs = step.get("needs", [])
    assert isinstance(needs, list | tuple)
    return list(needs)


def refuse_circle(step: Json, by_id: Mapping[str, Json], path: list[str]) -> None:
    """Follow every need; a step that is met again on the way is in a circle."""
    name = str(step["id"])
    if name in path:
        raise ValueError(f"a circle: {', '.join(path)}")
    for need in needs_of(step):
        refuse_circle(by_id[need], by_id, [*path, name])


def verify_progress(given: Json, steps: list[Json]) -> dict[str, list[str]]:
    """The reported ids in declared order."""
    ids = [str(step["id"]) for step in steps]
    reported: dict[str, list[str]] = {}
    for field in ("completed", "failed"):
        names = given.get(field, [])
        assert isinstance(names, list | tuple)
        for name in names:
            if name not in ids:
                raise ValueError(f"{field}: there is no step {name!r}")
        reported[field] = [name for name in ids if name in names]
    both = set(reported["completed"]) & set(reported["failed"])
    if both:
        raise ValueError(f"completed and failed at once: {both}")
    return reported


def sequence_run(given: Json) -> dict[str, object]:
    """Where every step stands."""
    steps = verify_steps(given)
    reported = verify_progress(given, steps)
    now = read(given.get("now", 0), "now")
    states: dict[str, str] = {}
    reasons: dict[str, str] = {}
    due: dict[str, int] = {}

    def stand(step: Json) -> str:
        name = str(step["id"])
        if name not in states:
            states[name], reasons[name] = found(step)
        return states[name]

    def found(step: Json) -> tuple[str, str]:
        name = str(step["id"])
        for field in ("failed", "completed"):
            if name in reported[field]:
                return field, ""
        needed = [other for other in steps if other["id"] in needs_of(step)]
        dead = [str(other["id"]) for other in needed if stand(other) in DEAD]
        if dead:
            return "unreachable", f"needs {', '.join(dead)}"
        pending = [str(other["id"]) for other in needed if stand(other) != "completed"]
        if pending:
            return "waiting", f"needs {', '.join(pending)}"
        after = read(step.get("after", now), "after")
        if after > now:
            due[name] = after - now
            return "waiting", f"due {write(after)}"
        if "when" not in step:
            return "ready", ""
        decided = decide(step, given.get("value"))
        if decided.verdict == "undetermined":
            return "undetermined", decided.undetermined_reason
        return ("ready", "") if decided.verdict == "pass" else ("skipped", decided.reason)

    for step in steps:
        stand(step)
    ready = [
        {"id": step["id"], "index": index}
        | ({"params": step["params"]} if "params" in step else {})
        for index, step in enumerate(steps)
        if states[str(step["id"])] == "ready"
    ]

    def held(state: str) -> list[dict[str, object]]:
        entries: list[dict[str, object]] = []
        for name in (str(step["id"]) for step in steps):
            if states[name] == state:
                entries.append({"id": name, "reason": reasons[name]})
                if name in due:
                    entries[-1]["dueInMs"] = due[name]
        return entries

    lists = {name: held(name) for name in ("waiting", "unreachable", "skipped", "undetermined")}
    if ready:
        state = "ready"
    elif lists["waiting"] or lists["undetermined"]:
        state = "blocked"
    else:
        state = "halted" if reported["failed"] or lists["unreachable"] else "finished"
    if not lists["undetermined"]:
        del lists["undetermined"]
    return {
        "state": state,
        "ready": ready,
        "next": ready[0] if ready else None,
        **lists,
        **reported,
        "version": given.get("version"),
        "total": len(steps),
    }
