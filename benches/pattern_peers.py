"""Other engines: `re`, google-re2 when it is installed, and Rust crates when they can be built."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pattern_cases import Case, inline_pattern

HERE = Path(__file__).parent / "peers"


@cache
def re2_search(case: Case) -> Callable[[str], object] | None:
    """Compile it for google-re2; `None` when that is not installed or does not know the pattern."""
    try:
        re2: Any = importlib.import_module("re2")
    except ImportError:
        return None
    quiet = re2.Options()
    quiet.log_errors = False
    try:
        search: Callable[[str], object] = re2.compile(inline_pattern(case), quiet).search
    except re2.error:
        return None
    return search


def re2_version() -> str:
    """Name the version of google-re2, or why there is none."""
    try:
        return f"google-re2 {version('google-re2')}"
    except ImportError:
        return "google-re2 skipped: not installed (`pip install 'interlock[bench]'`)"


class Crates:
    """The program in `peers/`, which times the crates `regex` and `corvus-regex-ecma262`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self.why = "crates skipped: cargo not found"
        if (cargo := shutil.which("cargo")) is None:
            return
        target = Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target")) / "peers"
        command = [cargo, "build", "--release", "--locked", "--quiet", "--target-dir", str(target)]
        built = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)  # noqa: S603
        if built.returncode:
            self.why = f"crates skipped: {built.stderr.strip().splitlines()[-1:]}"
            return
        self.why = ", ".join(_locked("regex", "corvus-regex-ecma262"))
        self._process = subprocess.Popen(  # noqa: S603
            [target / "release" / "peers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def seconds(self, engine: str, case: Case, text: str, *, found: bool) -> float | None:
        """Seconds of CPU a search; `None` when the crates could not be built."""
        pattern, flags = case.pattern, case.flags
        if engine == "regex":
            pattern, flags = inline_pattern(case).replace(r"\b", r"(?-u:\b)"), ""
        answer = self.ask(engine, [pattern], flags, [text])
        assert answer is None or answer[0] == found, (engine, case)
        return None if answer is None else answer[1]

    def ask(
        self, engine: str, patterns: list[str], flags: str, texts: list[str]
    ) -> tuple[int, float] | None:
        """Say how many patterns are found in the texts, and the seconds of CPU a text."""
        if self._process is None or self._process.stdin is None or self._process.stdout is None:
            return None
        asked = {"engine": engine, "patterns": patterns, "flags": flags, "texts": texts}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return int(answer["found"]), float(answer["ns"]) / 1e9


def _locked(*names: str) -> list[str]:
    """Name the crates with their locked versions."""
    lock = tomllib.loads((HERE / "Cargo.lock").read_text("utf-8"))
    versions = {package["name"]: package["version"] for package in lock["package"]}
    return [f"{name} {versions[name]}" for name in names]
