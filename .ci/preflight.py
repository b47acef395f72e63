"""Say what is missing before anything is built, and what to install.

Written so that any Python can run it, the ones it refuses too.
"""

import re
import subprocess
import sys

PYTHON_FLOOR = (3, 11)
RUST_FLOOR = (1, 88)


def missing():
    """List what stands in the way, each with its remedy."""
    found = []
    if sys.version_info < PYTHON_FLOOR:
        found.append(
            "Python %d.%d is too old: install Python 3.11 or newer, or name one: "
            "make PYTHON=python3.11" % tuple(sys.version_info[:2])
        )
    for module in ("venv", "ensurepip"):
        try:
            __import__(module)
        except ImportError:
            found.append("the module %s is missing: install the package python3-venv" % module)
    if rust_version("cargo") is None:
        found.append(
            "cargo not found: install Rust 1.88 or newer (rustup), or `pip install interlock` "
            "for a ready wheel"
        )
    else:
        version = rust_version("rustc")
        if version is None or version < RUST_FLOOR:
            shown = "not found" if version is None else "%d.%d is too old" % version
            found.append("rustc %s: install Rust 1.88 or newer (rustup)" % shown)
    return found


def rust_version(program):
    """Return the version of a Rust program; None when it is not there."""
    try:
        printed = subprocess.check_output([program, "--version"]).decode()
    except (OSError, subprocess.CalledProcessError):
        return None
    match = re.search(r"(\d+)\.(\d+)", printed)
    return (int(match.group(1)), int(match.group(2))) if match else None


if __name__ == "__main__":
    problems = missing()
    for problem in problems:
        sys.stderr.write("make: %s\n" % problem)
    sys.exit(1 if problems else 0)
