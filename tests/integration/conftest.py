"""Files that several tests decide by."""

from pathlib import Path

import pytest

from .command import BRANCH


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(BRANCH, encoding="utf-8")
    return path
