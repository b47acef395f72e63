"""An error is classified as the reference says, by its signals alone."""

import json
import pickle
import re
from collections.abc import Callable
from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st
from laws import error_strategies as es
from laws import time_strategies as ts

import oracle
from interlock import ErrorClassify, error_classify
from oracle.error_packs import load_packs

Wire = dict[str, Any]
RETRIES = ("retry", "retry_after", "backoff")
RULE = {"id": "a", "class": "bug", "action": "fail"}


def snake_case(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def answer_or_refusal(answer: Callable[[], object]) -> object:
    try:
        return answer()
    except ValueError:
        return "refused"


def classify(signals: Wire, rules: list[Wire], **rest: Any) -> Wire:
    return ErrorClassify(rules, **rest).classify_data(signals).to_dict()


def classified(signals: Wire, rules: list[Wire]) -> Wire:
    """The answer for rules that are not refused."""
    found = answer_or_refusal(lambda: classify(signals, rules))
    assume(isinstance(found, dict))
    assert isinstance(found, dict)
    return found


@given(es.signals(), es.rules())
@example({"status": 503, "retryAfter": "Wed, 21 Oct 2015 07:28:00 GMT", "now": 0}, [])
@example(
    {"message": "A\u03a3"}, [{"id": "a", "contains": "\u03a3", "class": "bug", "action": "fail"}]
)
def test_it_is_classified_as_in_the_reference(signals: Wire, rules: list[Wire]) -> None:
    expected = answer_or_refusal(lambda: oracle.classify(signals, rules))
    assert expected == answer_or_refusal(lambda: classify(signals, rules))


@given(es.signals(), es.rules())
def test_every_form_gives_one_answer(signals: Wire, rules: list[Wire]) -> None:
    found = classified(signals, rules)
    again = pickle.loads(pickle.dumps(ErrorClassify(rules)))  # noqa: S301  # made here
    assert found == again.classify_data(signals).to_dict()
    named: Wire = {snake_case(field): value for field, value in signals.items()}
    assert found == error_classify(**named, rules=rules).to_dict()
    assert found == json.loads(json.dumps(found))


@given(es.signals(), st.sampled_from(("UTC", "America/New_York", "Asia/Kathmandu")))
def test_the_zone_of_the_host_says_nothing(signals: Wire, zone: str) -> None:
    here = classify(signals, [])
    assert here == ts.under_zone(zone, lambda: classify(signals, []))
    assert here == classify(dict(reversed(signals.items())), [])


@given(ts.millis(), ts.millis())
def test_a_date_is_counted_from_now_and_from_nothing_else(at: int, now: int) -> None:
    signals = {"status": 503, "retryAfter": ts.formed(at, "text")}
    assert classify(signals, [])["waitMs"] is None
    found = classify({**signals, "now": now}, [])
    assert found["waitMs"] in (None, max(0, at - now))
    assert (found["waitMs"] is None) == (found["retryAt"] is None)


@given(st.lists(st.sampled_from(es.PHRASES), min_size=1, max_size=4), st.data())
def test_the_place_in_a_text_says_nothing(phrases: list[str], data: st.DataObject) -> None:
    moved = data.draw(st.permutations(phrases))
    found = classify({"message": " | ".join(phrases)}, [])
    assert found == classify({"message": " | ".join(moved)}, [])
    first = next(entry for entry in es.PHRASES if any(entry in phrase for phrase in phrases))
    assert f"message:{first}" == found["matched"]


@given(es.signals(), es.rules())
def test_what_tries_again_is_told_by_the_action(signals: Wire, rules: list[Wire]) -> None:
    found = classified(signals, rules)
    assert found["retryable"] == (found["action"] in RETRIES)
    assert found["waitMs"] is None or found["waitMs"] >= 0
    assert found["action"] != "retry_after" or (found["waitMs"], found["retryAt"]) != (None, None)


@given(es.signals(), es.rules(), st.integers(1, 5), st.integers(0, 3))
def test_nothing_is_tried_again_when_the_attempts_are_spent(
    signals: Wire, rules: list[Wire], most: int, beyond: int
) -> None:
    free = classified({**signals, "attempt": most - 1, "maxAttempts": most}, rules)
    spent = classify({**signals, "attempt": most + beyond, "maxAttempts": most}, rules)
    action = "escalate" if free["retryable"] else free["action"]
    assert {**free, "action": action, "retryable": False, "exhausted": True} == spent


@given(es.new_signals(), es.rules(), st.integers(0, 10**7))
def test_no_wait_is_longer_than_it_may_be(signals: Wire, rules: list[Wire], most: int) -> None:
    found = classified({**signals, "maxWaitMs": most}, rules)
    assert not found["retryable"] or found["waitMs"] is None or found["waitMs"] <= most
    free = classified({k: v for k, v in signals.items() if k != "maxWaitMs"}, rules)
    assert free["waitMs"] == found["waitMs"]


@given(es.old_signals(), es.rules())
def test_packs_say_nothing_of_the_old_signals(signals: Wire, rules: list[Wire]) -> None:
    found = classified(signals, rules)
    assert found == classify(signals, rules, packs=[])
    assert found["source"] != "pack"


@given(es.new_signals(), es.rules(), st.data())
def test_the_chosen_packs_are_asked(signals: Wire, rules: list[Wire], data: st.DataObject) -> None:
    names = st.sampled_from(list(load_packs()))
    chosen = data.draw(st.lists(names, max_size=3, unique=True))
    found = answer_or_refusal(lambda: classify(signals, rules, packs=chosen))
    assert found == answer_or_refusal(lambda: oracle.classify(signals, rules, chosen))
    if isinstance(found, dict) and found["source"] == "pack":
        assert found["matched"].split("/")[0] in chosen


@given(es.texts(), st.sampled_from(({"status": 200}, {"exitCode": 0})))
def test_the_words_of_a_success_are_no_error(text: str, success: Wire) -> None:
    body = {"choices": [{"message": {"content": text}}], "error": None}
    found = classify({**success, "body": body, "stdout": text}, [])
    assert ("ok", "continue") == (found["class"], found["action"])
