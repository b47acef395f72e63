"""Flow: the shape of a workflow as nodes and arrows, to look at or to compile."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.record._data import Record
from interlock.record.report._text import label
from interlock.record.rollout import Kind

__all__ = ["Flow", "Node"]

_JUDGING = ("accept", "classify", "decision", "gate", "judge")


@dataclass(frozen=True, slots=True)
class Node(Record):
    """A node of a flow.

    Attributes:
        id: Its name, which is that of the step.
        kind: The kind of the step.
        needs: The nodes it comes after.
        label: What stands on the arrow to it; empty for nothing.
    """

    id: str
    kind: Kind
    needs: tuple[str, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Flow(Record):
    """The nodes of a workflow, each after those that it needs."""

    name: str
    nodes: tuple[Node, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the nodes, in order."""
        return tuple(node.id for node in self.nodes)

    def to_mermaid(self) -> str:
        """Return the flow as a Mermaid diagram."""
        numbered = {node.id: f"n{number}" for number, node in enumerate(self.nodes)}
        lines = ["flowchart TD"]
        for node in self.nodes:
            left, right = ("{", "}") if node.kind in _JUDGING else ("[", "]")
            lines.append(f'    {numbered[node.id]}{left}"{label(node.id)}"{right}')
        for node in self.nodes:
            arrow = f'-- "{label(node.label)}" -->' if node.label else "-->"
            lines += [f"    {numbered[need]} {arrow} {numbered[node.id]}" for need in node.needs]
        return "\n".join(lines) + "\n"
