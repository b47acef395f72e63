"""Other people's engines: what needs one is left out where it is not installed."""

import os
from importlib import import_module
from typing import Any

import pytest


def engine(name: str) -> Any:
    """Import an engine; where `INTERLOCK_REQUIRE_ENGINES` is 1, its absence is a failure."""
    if os.environ.get("INTERLOCK_REQUIRE_ENGINES") == "1":
        return import_module(name)
    return pytest.importorskip(name, reason=f"needs {name}: pip install '.[test-engines]'")
