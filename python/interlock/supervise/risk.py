"""How far a call can go: four risks in order, and which effect of a tool means which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from interlock.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [  # noqa: RUF022 (by code point, as every other list of names)
    "EFFECT_RISKS",
    "Effect",
    "RISKS",
    "Risk",
    "effect_risk",
    "highest",
    "is_dangerous",
    "rank_of",
]

Risk: TypeAlias = Literal["read-only", "reversible-write", "destructive", "irreversible"]
Effect: TypeAlias = Literal["readonly", "write", "destructive", "irreversible"]

RISKS: tuple[Risk, ...] = ("read-only", "reversible-write", "destructive", "irreversible")
"""From the lowest to the highest."""

EFFECT_RISKS: dict[Effect, Risk] = {
    "readonly": "read-only",
    "write": "reversible-write",
    "destructive": "destructive",
    "irreversible": "irreversible",
}

_RANK: dict[str, int] = {risk: rank for rank, risk in enumerate(RISKS)}


def effect_risk(effect: Effect | None) -> Risk:
    """Return the risk of an effect; one that is not declared counts as destructive."""
    return "destructive" if effect is None else EFFECT_RISKS[effect]


def rank_of(risk: object, field: str = "risk") -> int:
    """Return the place of a risk in the order, from 0.

    Raises:
        ConfigError: When it is none.
    """
    if not isinstance(risk, str) or risk not in _RANK:
        message = f"must be one of {', '.join(RISKS)}"
        raise ConfigError((Problem("spec/unknown-choice", field, repr(risk), message),))
    return _RANK[risk]


def highest(risks: Iterable[Risk]) -> Risk:
    """Return the highest of some risks; read-only where there is none."""
    return RISKS[max((rank_of(risk) for risk in risks), default=0)]


def is_dangerous(risk: Risk) -> bool:
    """Say whether a risk is destructive or irreversible.

    Raises:
        ConfigError: When it is no risk.
    """
    return rank_of(risk) >= _RANK["destructive"]
