"""Reads the sources of the package without running them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "python"
PACKAGE = PYTHON / "interlock"
RUST = ROOT / "src"

FILES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    """Give a module's name from its path: `interlock.cli._lint`."""
    parts = path.relative_to(PYTHON).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room(name: str) -> str:
    """Give the room of a module: `cli` for `interlock.cli._lint`, the root for `interlock`."""
    return name.split(".")[1] if "." in name else "interlock"


@cache
def tree(path: Path) -> ast.Module:
    """Parse a file once."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported(path: Path) -> Iterator[str]:
    """Yield what a file imports, also for types only; `from a import b` as `a.b` and `a`."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            home = node.module or ""
            yield home
            yield from (f"{home}.{alias.name}" for alias in node.names)


def dotted(node: ast.AST) -> str:
    """Write an attribute chain such as `sys.stdout.buffer`; empty where it is none."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        home = dotted(node.value)
        return f"{home}.{node.attr}" if home else f"?.{node.attr}"
    return ""


def uses(path: Path) -> Iterator[str]:
    """Yield every name and attribute chain that a file uses."""
    for node in ast.walk(tree(path)):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield dotted(node)


def calls(path: Path) -> Iterator[str]:
    """Yield what a file calls."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            yield dotted(node.func)
