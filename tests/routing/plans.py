"""Plans for the tests, and what they read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.routing import Plan, RouteError, Router, RunFolder, Selection, Source, resolve

SELECTION = "route_selection.json"
ROUTES = [
    {"route_id": "search", "next_step_id": "find"},
    {"route_id": "profile", "next_step_id": "look"},
]


def chosen(route: object, field: str = "select_route") -> bytes:
    """Give the content of a choice."""
    return json.dumps({field: route}).encode()


def data(**router: Any) -> dict[str, Any]:
    """Give a plan as data: a step that decides, a router, and two steps it leads to."""
    pick = {"id": "pick", "kind": "routing", "routing_question": "Which way?", "routes": ROUTES}
    return {
        "steps": [
            {"id": "probe", "kind": "agent", "context_output": SELECTION},
            {**pick, **router},
            {"id": "find", "kind": "agent", "next_step_id": "end"},
            {"id": "look", "kind": "agent"},
        ]
    }


def plan(**router: Any) -> Plan:
    return Plan.load(data(**router))


def router(**fields: Any) -> Router:
    (found,) = plan(**fields).routers
    return found


def write(run: RunFolder, step: str, content: bytes, name: str = SELECTION) -> Path:
    """Put a file into the folder of a step, as a foreign program does."""
    place = Path(run.step_path(step)) / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return place


def taken(of: Router, *contents: bytes | None, **options: Any) -> Selection:
    """Resolve over sources of every kind, in order."""
    kinds = ("caller", "preseed", "route_source_file", "context_dependency")
    sources = [
        Source(kind, f"place/{kind}", content)  # type: ignore[arg-type]
        for kind, content in zip(kinds, contents, strict=False)
    ]
    return resolve(of, sources, **options)


def refused(code: str, of: Router, *contents: bytes | None) -> RouteError:
    """Resolve, and give the error that it must be."""
    with pytest.raises(RouteError) as caught:
        taken(of, *contents)
    assert code == caught.value.code
    return caught.value


def tree(path: str | Path) -> dict[str, bytes]:
    """Give all files below a folder."""
    root = Path(path)
    return {
        str(one.relative_to(root)): one.read_bytes() for one in root.rglob("*") if one.is_file()
    }
