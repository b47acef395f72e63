"""report: what a run did, for people: HTML, Markdown, Mermaid, or data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interlock import _core
from interlock.errors import ConfigError, Problem
from interlock.record.report._html import html_of
from interlock.record.report._markdown import markdown_of
from interlock.record.report._mermaid import mermaid_of
from interlock.record.report._view import View, view_of
from interlock.record.rollout import Rollout, Step

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Report", "report"]


@dataclass(frozen=True, slots=True)
class Report:
    """What is to be shown of a run; made by `report`.

    Attributes:
        rollout: The record, redacted if that was asked for.
    """

    rollout: Rollout
    _view: View

    def to_html(self) -> str:
        """Return one HTML page that loads nothing and runs no script.

        It is meant to be written as UTF-8. Long values are cut, and of a record of more than 10,000
        steps those beyond are left out but for what went wrong; both are said where it is done.
        """
        return html_of(self._view)

    def to_markdown(self) -> str:
        """Return Markdown with tables, of at most 200 steps; more are counted."""
        return markdown_of(self._view)

    def to_mermaid(self) -> str:
        """Return a Mermaid flowchart of at most 150 steps; more are counted."""
        return mermaid_of(self._view)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data; of the steps what came of them, not what they said."""
        return self._view.to_dict()


def report(rollout: Rollout, *, redact: Callable[[Step], Step] | None = None) -> Report:
    """Make a report of a run: what was refused, retried, in doubt; where tokens and time went.

    Args:
        rollout: The record of the run.
        redact: Gives each step, nested ones too, as it may be shown.

    Raises:
        ConfigError: For what is no rollout.
    """
    if not isinstance(rollout, Rollout):  # pyright: ignore[reportUnnecessaryIsInstance]
        shown = _core.preview(rollout)
        problem = Problem("spec/wrong-type", "rollout", shown, "must be a Rollout")
        raise ConfigError((problem,))
    kept = rollout if redact is None else rollout.redacted(redact)
    return Report(kept, view_of(kept))
