"""Helpers to test workflows without a model: scripted callables, a manual clock, a leak check."""

from __future__ import annotations

from interlock.testing._clock import ManualClock
from interlock.testing._leaks import run_checked
from interlock.testing._script import Script, scripted

__all__ = ["ManualClock", "Script", "run_checked", "scripted"]
