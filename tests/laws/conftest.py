"""How many examples a law is tried on.

The same ones every time by default, so that a change decides whether the tests pass and chance does
not; `LAWS=deep pytest tests/laws` tries many new ones.
"""

import os

from hypothesis import HealthCheck, Phase, settings

_COMMON = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)

settings.register_profile("fast", _COMMON, max_examples=80, derandomize=True)
settings.register_profile("deep", _COMMON, max_examples=4_000)
settings.load_profile(os.environ.get("LAWS", "fast"))
