"""How many examples a law is tried on.

The same ones every time by default, so that a change decides whether the tests pass and chance does
not; `LAWS=deep pytest tests/laws` tries many new ones, for as long as it takes.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

_COMMON = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)

settings.register_profile("fast", _COMMON, max_examples=80, derandomize=True)
settings.register_profile("deep", _COMMON, max_examples=4_000)
settings.load_profile(os.environ.get("LAWS", "fast"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("LAWS") == "deep":
        for item in items:
            if item.path.is_relative_to(Path(__file__).parent):
                # Before a mark that the test has itself.
                item.add_marker(pytest.mark.timeout(0), append=False)
