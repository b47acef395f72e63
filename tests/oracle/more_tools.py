"""Four more decisions: votes, stalls, scores and owners.

Whatever is wrong with the input is refused with ``ValueError``, naming the culprit, before
anything is evaluated. Numbers that count are read as fractions, so nothing is ever rounded.
"""

import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from .canonical import canonical
from .checks import verify_list
from .tools import decide, verify_owners, verify_value
from .values import exact, is_finite_number, is_whole, kind

MAX_VOTES = MAX_HISTORY = 512
MAX_SIGNALS = 64
MAX_RULES = MAX_OWNERS = 256
STRATEGIES = ("first", "specific", "least_loaded", "round_robin")
SPACES = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    chr(point) for point in range(0x2000, 0x200B)
)

Json = Mapping[str, object]


def number(given: object, name: str, least: int | None = None, most: int | None = None) -> Fraction:
    """Read a number that counts: finite and within its bounds."""
    if not is_finite_number(given):
        raise ValueError(f"{name} is no finite number")
    value = Fraction(exact(given))
    if (least is not None and value < least) or (most is not None and value > most):
        raise ValueError(f"{name} is out of range")
    return value


def told(value: Fraction) -> int | float | Decimal:
    """Write a sum of decimals: whole, or as the float whose text it is, or as a decimal."""
    if value.denominator == 1:
        return int(value)
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    number = Decimal(f"{int(value * 10**places)}E-{places}")
    return float(number) if exact(float(number)) == number else number


def whole(given: object, name: str, least: int, most: int | None = None) -> int:
    """Read a whole number."""
    value = number(given, name, least, most)
    if not is_whole(exact(given)):
        raise ValueError(f"{name} is no whole number")
    return int(value)


def entries_of(given: Json, name: str, limit: int) -> list[Json]:
    """Read a list of objects that is not empty."""
    found = given.get(name)
    if not isinstance(found, list | tuple) or not 0 < len(found) <= limit:
        raise ValueError(f"{name} has to be a list of 1 to {limit}")
    if any(kind(entry) != "object" for entry in found):
        raise ValueError(f"one of the {name} is no object")
    return list(found)


def normalized(value: object, how: Json) -> object:
    """Trim, lower-case, strip, collapse a text; anything else stays."""
    if not isinstance(value, str):
        return value
    text = value
    if how.get("trim", True):
        text = text.strip(SPACES)
    if how.get("lowercase"):
        text = text.lower()
    if how.get("stripPunctuation"):
        kept = [c for c in text if c in SPACES or unicodedata.category(c)[0] in ("L", "N")]
        text = "".join(kept)
    if how.get("collapseWhitespace"):
        words, word = [], ""
        for char in text:
            if char not in SPACES:
                word += char
            elif word:
                words.append(word)
                word = ""
        text = " ".join([*words, word] if word else words)
    return text


def same_answer(founder: object, value: object, given: Json) -> bool:
    """Tell whether a vote joins the group of a founder."""
    mode = given.get("mode", "exact")
    if mode == "numeric":
        if not is_finite_number(founder) or not is_finite_number(value):
            return False
        apart = abs(Fraction(exact(founder)) - Fraction(exact(value)))
        return apart <= number(given.get("tolerance", 0), "tolerance", 0)
    if mode == "set":
        if not isinstance(founder, list) or not isinstance(value, list):
            return False
        here, there = set(map(canonical, founder)), set(map(canonical, value))
        alike = Fraction(len(here & there), len(here | there)) if here | there else Fraction(1)
        return alike >= number(given.get("overlap", 1), "overlap", 0, 1)
    return canonical(founder) == canonical(value)


def consensus_vote(given: Json) -> dict[str, object]:
    """Group the votes, rank the groups, and say whether the first one carries."""
    if given.get("mode", "exact") not in ("exact", "numeric", "set"):
        raise ValueError("mode is exact, numeric or set")
    threshold = number(given.get("threshold", 0.5), "threshold", 0, 1)
    how = given.get("normalize") or {}
    assert isinstance(how, Mapping)
    groups: list[dict[str, object]] = []
    order: list[tuple[str, dict[str, object]]] = []
    cast = Fraction(0)
    for index, vote in enumerate(entries_of(given, "votes", MAX_VOTES)):
        weight = number(vote.get("weight", 1), f"the weight of vote {index}", 0)
        cast += weight
        value, voter = normalized(vote["value"], how), str(vote.get("voter", f"#{index}"))
        for group in groups:
            if same_answer(group["value"], value, given):
                break
        else:
            group = {"value": value, "weight": Fraction(0), "voters": []}
            groups.append(group)
        group["weight"] += weight  # type: ignore[operator]  # a fraction, as made above
        group["voters"].append(voter)  # type: ignore[attr-defined]  # a list, as made above
        order.append((voter, group))
    heaviest = max(group["weight"] for group in groups)  # type: ignore[type-var]
    first = next(group for group in groups if group["weight"] == heaviest)
    tie = sum(group["weight"] == heaviest for group in groups) > 1
    assert isinstance(heaviest, Fraction)
    agreement = heaviest / cast if cast else Fraction(0)
    weights = sorted({group["weight"] for group in groups}, reverse=True)  # type: ignore[type-var]
    return {
        "decided": not tie and agreement >= threshold,
        "winner": first["value"],
        "support": told(heaviest),
        "total": told(cast),
        "agreement": float(agreement),
        "unanimous": len(groups) == 1,
        "tie": tie,
        "groups": [
            group | {"weight": told(weight)}  # type: ignore[arg-type]  # as made above
            for weight in weights
            for group in groups
            if group["weight"] == weight
        ],
        "dissenters": [voter for voter, group in order if group is not first],
    }


def stall_detect(given: Json) -> dict[str, object]:
    """Look at the end of a history: the same over and over, a cycle twice, or neither."""
    history = entries_of(given, "history", MAX_HISTORY)
    window = whole(given.get("window", 3), "window", 2)
    longest = whole(given.get("maxCycle", 3), "maxCycle", 1, 16)
    signals = given.get("signals")
    names = list(signals) if isinstance(signals, list) else [n for s in history for n in s]
    if signals is not None and len(names) > MAX_SIGNALS:
        raise ValueError(f"more than {MAX_SIGNALS} signals")
    names = sorted(set(names))
    shown = [[canonical(snapshot.get(name, "")) for name in names] for snapshot in history]
    kept = {name: [canonical(s[name]) if name in s else None for s in history] for name in names}
    enough = len(history) > 1
    answer: dict[str, object] = {
        "stalled": False,
        "reason": "progressing",
        "repeats": 0,
        "cycleLength": None,
        "changed": [n for n in names if enough and kept[n][-1] != kept[n][-2]],
        "frozen": [n for n in names if enough and all(one == kept[n][0] for one in kept[n])],
        "observed": len(history),
    }
    if len(history) < window:
        return answer | {"reason": "insufficient"}
    repeats = 1
    while repeats < len(shown) and shown[-repeats - 1] == shown[-1]:
        repeats += 1
    answer["repeats"] = repeats
    if repeats >= window:
        return answer | {"stalled": True, "reason": "unchanged", "cycleLength": 1}
    for length in range(2, longest + 1):
        once, twice = shown[-length:], shown[-2 * length : -length]
        constant = all(snapshot == shown[-1] for snapshot in shown[-2 * length :])
        if len(twice) == length and once == twice and not constant and 2 * length >= window:
            return answer | {"stalled": True, "reason": "oscillating", "cycleLength": length}
    return answer


def rule_score(given: Json) -> dict[str, object]:
    """Add the points of the rules that hold, clamp the sum, and find its band."""
    rules = verify_owners(given, "rules", "id", MAX_RULES)
    points = [number(rule.get("points"), f"the points of {rule['id']}") for rule in rules]
    bands = [(b["name"], number(b.get("min"), "min")) for b in given.get("bands") or []]  # type: ignore[attr-defined]
    least, most = given.get("min"), given.get("max")
    value = verify_value(given)
    judged = [decide(rule, value) for rule in rules]
    raw = sum((p for p, j in zip(points, judged, strict=True) if j.verdict == "pass"), Fraction(0))
    score = raw if least is None else max(raw, number(least, "min"))
    score = score if most is None else min(score, number(most, "max"))
    if least is not None and most is not None and number(least, "min") > number(most, "max"):
        raise ValueError("min is above max")
    met = [(name, edge) for name, edge in bands if edge <= score]
    highest = max((edge for _, edge in met), default=None)
    answer: dict[str, object] = {
        "score": told(score),
        "rawScore": told(raw),
        "band": next((name for name, edge in met if edge == highest), None),
        "version": given.get("version"),
        "contributors": [
            {"id": rule["id"], "label": rule.get("label"), "points": told(worth)}
            for rule, worth, one in zip(rules, points, judged, strict=True)
            if one.verdict == "pass"
        ],
    }
    if given.get("includeMissed"):
        answer["missed"] = [
            {"id": rule["id"], "reason": one.reason}
            for rule, one in zip(rules, judged, strict=True)
            if one.verdict == "fail"
        ]
    undecided = [
        {"id": rule["id"], "reason": one.undetermined_reason}
        for rule, one in zip(rules, judged, strict=True)
        if one.verdict == "undetermined"
    ]
    if undecided:
        answer |= {"score": None, "rawScore": None, "band": None, "undetermined": undecided}
    return answer


def judge_owner(owner: Json, value: object, strategy: str) -> tuple[bool | None, str, int]:
    """Say whether an owner is eligible, why not, and how many of the checks hold."""
    decided = decide(owner, value)
    if decided.verdict == "undetermined":
        return None, f"{owner['id']}: {decided.undetermined_reason}", decided.passed
    if decided.verdict == "fail":
        return False, decided.reason, decided.passed
    if owner.get("available") is False:
        return False, f"{owner['id']} is away", decided.passed
    if "load" not in owner and ("capacity" in owner or strategy == "least_loaded"):
        why = f"{owner['id']} has no load{' but a capacity' if 'capacity' in owner else ''}"
        return None, why, decided.passed
    if "capacity" in owner and exact(owner["load"]) >= exact(owner["capacity"]):
        return False, f"{owner['id']} is full", decided.passed
    return True, "", decided.passed


def lead_assign(given: Json) -> dict[str, object]:
    """Judge every owner, and take one of the eligible by the strategy."""
    owners = verify_owners(given, "owners", "id", MAX_OWNERS)
    strategy = given.get("strategy")
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy has to be one of {', '.join(STRATEGIES)}")
    assert isinstance(strategy, str)
    for owner in owners:
        for field in ("load", "capacity"):
            number(owner.get(field, 0), f"the {field} of {owner['id']}", 0)
    cursor = whole(given.get("cursor") or 0, "cursor", 0)
    judged = [judge_owner(owner, verify_value(given), strategy) for owner in owners]
    places = [index for index, (eligible, _, _) in enumerate(judged) if eligible]
    answer: dict[str, object] = {
        "ok": True,
        "assigned": False,
        "owner": None,
        "fallback": False,
        "strategy": strategy,
        "version": given.get("version"),
        "eligible": [owners[index]["id"] for index in places],
        "cursor": None,
        "conflict": None,
    }
    if given.get("verbose"):
        answer["considered"] = [
            {"id": owner["id"], "eligible": eligible, "reason": reason, "matched": matched}
            for owner, (eligible, reason, matched) in zip(owners, judged, strict=True)
        ]
    unknown = [reason for eligible, reason, _ in judged if eligible is None]
    if unknown:
        return answer | {"ok": False, "conflict": "; ".join(unknown)}
    if not places:
        fallback = given.get("fallback")
        if isinstance(fallback, Mapping):
            answer |= {"assigned": True, "owner": fallback["id"], "fallback": True}
        return answer
    best = best_places(owners, places, strategy, cursor)
    if strategy == "specific" and len(best) > 1:
        named = ", ".join(str(owners[index]["id"]) for index in best)
        return answer | {"ok": False, "conflict": f"equally specific: {named}"}
    if strategy == "round_robin":
        answer["cursor"] = (best[0] + 1) % len(owners)
    return answer | {"assigned": True, "owner": owners[best[0]]["id"]}


def required(owner: Json) -> int:
    """Count the checks that an owner requires: all of them, or one where any is enough."""
    return 1 if owner.get("match") == "any" else len(verify_list(owner["when"]))


def best_places(owners: list[Json], places: list[int], strategy: str, cursor: int) -> list[int]:
    """Give the places of the owners that the strategy puts first, in declared order."""
    if strategy == "specific":
        asked = {index: required(owners[index]) for index in places}
        return [index for index in places if asked[index] == max(asked.values())]
    if strategy == "least_loaded":
        lowest = min(exact(owners[index]["load"]) for index in places)
        return [index for index in places if exact(owners[index]["load"]) == lowest]
    if strategy == "round_robin":
        turn = cursor % len(owners)
        return [i for i in places if i >= turn] + [i for i in places if i < turn]
    return places
