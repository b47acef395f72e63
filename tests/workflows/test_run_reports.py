"""Reports: everything is shown, nothing is trusted, nothing grows beyond bounds."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import ConfigError, ErrorInfo, Rollout, Step, Usage, report
from interlock.record import Reply

SOME = settings(max_examples=60, deadline=None, derandomize=True)
HOSTILE = [
    "<script>alert(1)</script>",
    "</pre></details><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' style='x",
    "a\u202eb\u2066c\u200bd",
    "nul\x00bell\x07esc\x1b[31mc1\x9bcr\rls\u2028",
    "half \ud800 pair \udfff",
    "&lt;b&gt; &amp; &#x3c;",
    "`ticks` ``more`` `",
    "| a | b |\n|---|\n# head\n- [x](javascript:alert(1)) @name #1",
    '%%{init: {"theme":"x"}}%%"]; click n0 "javascript:alert(1)"\nend',
    "]]>--><!--",
    "\ufeff\U000e0041tag",
    "",
]
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\ud800-\udfff]")
VOID = {"meta", "input", "rect"}


class Page(HTMLParser):
    """Reads a page, and fails where it is not what was written."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


TAGS = re.compile(
    "html|head|meta|title|style|body|header|h1|h2|h3|code|span|dl|dt|dd|pre|section|ul|ol|li|a|p|table"
    "|thead|tbody|tr|th|td|svg|rect|input|label|details|summary"
)
ATTRIBUTES = re.compile(
    "lang|charset|http-equiv|content|name|class|id|href|for|type|aria-hidden|width|height"
)


def step(text: str, **more: Any) -> Step:
    usage = Usage(3, 1, cost=7, requests=1)
    told = {"reply": {"form": text, "model": text, "calls": [{"name": text}], "meta": {"x": text}}}
    fields: dict[str, Any] = {
        "path": text,
        "name": text,
        "kind": "tool",
        "status": "failed",
        "input_digest": text,
        "output": text,
        "usage": usage,
        "error": ErrorInfo(text, text, text, text, source=text),
        "call_id": text,
        "idempotency_key": text,
        "decision": {text: [text]},
        "started_at": text,
        "meta": told,
    }
    return Step(**{**fields, **more})


def rollout(*steps: Step, text: str = "w") -> Rollout:
    return Rollout(
        run_id=text,
        workflow=text,
        kind=text,
        status=text,
        stopped_by=text,
        steps=steps,
        started_at=text,
        tags={text or "t": text},
        faults=(ErrorInfo(text, text),),
        input={"q": text},
    )


def whole(text: str) -> Rollout:
    inner = rollout(step(text), text=text)
    # Nothing keeps a record that is made by hand from having any text where a word belongs.
    odd = step(text, kind=cast("Any", text), status=cast("Any", text), effect=cast("Any", text))
    return rollout(step(text), step(text, child=inner, output={text: text}), odd, text=text)


def safe_page(text: str) -> Page:
    page = Page(text)
    assert all(TAGS.fullmatch(tag) for tag in page.tags)
    assert all(ATTRIBUTES.fullmatch(name) for name in page.attributes)
    assert all(re.fullmatch(r"#s\d+", link) and link[1:] in page.ids for link in page.links)
    assert not HIDDEN.search(text)
    text.encode("utf-8")
    return page


@pytest.mark.parametrize("text", HOSTILE)
class TestHostile:
    def test_html(self, text: str) -> None:
        safe_page(report(whole(text)).to_html())

    def test_markdown(self, text: str) -> None:
        made = report(whole(text)).to_markdown()
        # What is not code is ours: with code taken out, nothing of the text is left.
        rest = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", made)

        assert not HIDDEN.search(made)
        assert not re.search(r"[<>\[\]]|javascript|@name|init|onerror", rest)
        assert {line.count(" | ") for line in rest.splitlines() if "tool" in line} <= {5}

    def test_mermaid(self, text: str) -> None:
        made = report(whole(text)).to_mermaid()

        assert not HIDDEN.search(made)
        assert "%%" not in made
        for line in made.splitlines()[1:]:
            assert re.fullmatch(
                r'    (\w+[\[{(]+"[^"]*"[\]})]+(:::\w+)?|\w+ (-->|-\.->) \w+|classDef [\w ,:#-]+)',
                line,
            )

    def test_data(self, text: str) -> None:
        made = report(whole(text)).to_dict()

        assert json.loads(json.dumps(made)) == made


@SOME
@given(st.text(st.characters(), max_size=60))
def test_no_text_is_markup(text: str) -> None:
    page = safe_page(report(whole(text)).to_html())
    report(whole(text)).to_mermaid().encode()
    report(whole(text)).to_markdown().encode()

    assert "Steps" in page.text


def test_what_is_shown() -> None:
    steps = (
        Step(path="t", name="t", kind="tool", status="blocked", effect="destructive"),
        Step(
            path="a", name="a", kind="tier", status="failed", error=ErrorInfo("E", "why", "timeout")
        ),
        Step(
            path="a", name="a", kind="tier", status="completed", attempt=2, usage=Usage(1_500, 20)
        ),
        Step(path="d", name="d", kind="tool", status="in_doubt"),
        Step(path="u", name="u", kind="gate", status="undetermined", decision={"score": 0.25}),
        Step(path="q", name="q", kind="ask", status="paused"),
        Step(
            path="m",
            name="m",
            kind="tier",
            status="completed",
            meta={"usage_missing": True, "reply": {"form": "reply", "model": "gpt"}},
        ),
    )
    made = report(rollout(*steps))

    assert made.to_dict()["concerns"] == {
        "refused": ["t"],
        "failed": ["a"],
        "in_doubt": ["d"],
        "undetermined": ["u"],
        "retried": ["a", "a"],
        "asked": ["q"],
        "estimated": ["m"],
    }
    page = Page(made.to_html())
    text = " ".join(page.text)
    for shown in ("destructive", "E", "why", "timeout, next: escalate", "0.25", "model gpt"):
        assert shown in text
    assert "1,500 in, 20 out" in text
    assert "attempt 2" in text


def test_what_is_inside_counts_once() -> None:
    inner = replace(
        rollout(step("x", usage=Usage(90, cost=5), duration_ms=4.0)), usage=Usage(90, cost=5)
    )
    outer = step("o", usage=Usage(100, cost=7), duration_ms=5.0, child=inner)
    spent = {one["name"]: one for one in report(rollout(outer)).to_dict()["spent"]}

    assert (spent["o"]["tokens"], spent["o"]["cost"], spent["o"]["ms"]) == (10, 2, 1.0)
    assert (spent["x"]["tokens"], spent["x"]["cost"], spent["x"]["ms"]) == (90, 5, 4.0)


def test_turns_are_one_row_and_the_least_stand_together() -> None:
    turns = [step(f"turn_{number}", usage=Usage(number)) for number in range(30)]
    others = [step(f"name{number}x", usage=Usage(1)) for number in range(40)]
    spent = report(rollout(*turns, *others)).to_dict()["spent"]

    assert (spent[0]["name"], spent[0]["steps"], spent[0]["tokens"]) == ("turn_*", 30, 435)
    assert (len(spent), spent[-1]["name"], spent[-1]["tokens"]) == (21, "21 others", 21)


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    text = report(whole("x")).to_html()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)

    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
    assert not re.search(r"<script|<link|<iframe|<object|url\(|@import|https?:", text)
    assert not re.search(r"<[a-z][^>]* style=", text)
    assert "prefers-color-scheme:dark" in text


def test_long_values_are_cut_and_said_to_be() -> None:
    text = report(rollout(step("x", output="y" * 100_000))).to_html()

    assert len(text) < 40_000
    assert "96,000 characters more" in text


@pytest.mark.parametrize("count", [10_000, 30_000])
def test_a_page_has_a_bounded_size_and_leaves_no_fault_out_unsaid(count: int) -> None:
    steps = [
        Step(path=f"s{n}", name="s", kind="tool", status="completed", output="word " * 200)
        for n in range(count)
    ]
    steps[-1] = Step(path="last", name="s", kind="tool", status="failed")
    made = report(rollout(*steps))
    text = made.to_html()

    assert len(text) < 12_000_000
    assert ">last<" in text
    assert ("steps are not shown" in text) == (count > 10_000)
    assert made.to_mermaid().count("\n") < 400
    assert f"{count - 150:,} more steps are not shown" in made.to_mermaid()
    assert f"{count - 200:,} more steps" in made.to_markdown()


def test_deep_records_are_walked_through() -> None:
    deep = rollout(step("leaf"))
    for _ in range(sys.getrecursionlimit() * 2):
        deep = rollout(step("in", child=deep))
    made = report(deep)

    assert len(made.to_dict()["steps"]) == sys.getrecursionlimit() * 2 + 1
    assert made.to_html().startswith("<!DOCTYPE html>")
    assert made.to_mermaid().startswith("flowchart")


@pytest.mark.parametrize(
    "value", [object(), {1: 2}, float("nan"), [[[[]]]], {"a": {"b": None}}, b"x", {"x"}]
)
def test_values_of_any_kind_are_shown(value: object) -> None:
    safe_page(report(rollout(step("x", output=value, decision=value))).to_html())


def test_redacted() -> None:
    secret = rollout(step("s", output="secret"), text="secret")
    made = report(
        secret, redact=lambda one: Step(path="p", name="p", kind=one.kind, status=one.status)
    )

    assert (
        "secret"
        not in " ".join(Page(made.to_html()).text)
        .split("started with")[0]
        .partition("Where tokens")[2]
    )
    assert made.rollout.input is None


@pytest.mark.parametrize("given_value", [None, {}, "x", Reply()])
def test_what_is_no_rollout_is_refused(given_value: Any) -> None:
    with pytest.raises(ConfigError, match="must be a Rollout"):
        report(given_value)
