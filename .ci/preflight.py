"""Say what is missing before anything is built, and what to install."""

import importlib.util
import re
import shutil
import subprocess
import sys

PYTHON_FLOOR = (3, 11)
RUST_FLOOR = (1, 88)


def missing() -> list[str]:
    """List what stands in the way, each with its remedy."""
    found: list[str] = []
    if sys.version_info < PYTHON_FLOOR:
        version = ".".join(str(part) for part in sys.version_info[:2])
        found.append(
            f"Python {version} is too old: install Python 3.11 or newer, or name one: "
            "make PYTHON=python3.11"
        )
    found += [
        f"the module {module} is missing: install the package python3-venv"
        for module in ("venv", "ensurepip")
        if importlib.util.find_spec(module) is None
    ]
    cargo = shutil.which("cargo")
    if cargo is None:
        found.append(
            "cargo not found: install Rust 1.88 or newer (rustup), or `pip install interlock` "
            "for a ready wheel"
        )
    elif (rust := _rust_version()) < RUST_FLOOR:
        shown = ".".join(str(part) for part in rust)
        found.append(f"Rust {shown} is too old: install Rust 1.88 or newer (rustup)")
    return found


def _rust_version() -> tuple[int, int]:
    printed = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False)
    match = re.search(r"(\d+)\.(\d+)", printed.stdout)
    return (int(match[1]), int(match[2])) if match else (0, 0)


if __name__ == "__main__":
    problems = missing()
    for problem in problems:
        print(f"make: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)
