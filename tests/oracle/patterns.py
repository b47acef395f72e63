"""ECMAScript patterns: is there a match anywhere in a text?

Decided: the grammar without the flags ``u`` and ``v``, lookaround and modifiers included.
Not decided: the flags ``u`` and ``v``, every backreference, more than 10,000 characters,
groups nested deeper than 100.
"""

from functools import lru_cache

from .pattern_match import Matcher
from .pattern_syntax import Parser, read_flags, to_units
from .pattern_tree import Node, PatternInvalid, PatternUnsupported

__all__ = [
    "PatternInvalid",
    "PatternUnsupported",
    "check_syntax",
    "compile_pattern",
    "test",
]


def check_syntax(pattern: str, flags: str = "") -> None:
    """Raise ``PatternInvalid`` unless this is a pattern; backreferences are welcome."""
    Parser(pattern, read_flags(flags)).parse()


@lru_cache(maxsize=1000)
def compile_pattern(pattern: str, flags: str = "") -> Node:
    """Read a pattern into its tree; raise if it is invalid or cannot be decided."""
    parser = Parser(pattern, read_flags(flags))
    tree = parser.parse()
    if parser.references:
        raise PatternUnsupported(f"backreference {parser.references[0]}")
    return tree


def test(pattern: str, flags: str, text: str) -> bool:
    """Tell whether the pattern matches somewhere in the text, as a fresh object would.

    The flag ``y`` asks for a match that starts at the very beginning; ``g`` and ``d`` change
    nothing.
    """
    node = compile_pattern(pattern, flags)
    matcher = Matcher([ord(unit) for unit in to_units(text)])
    start = frozenset([0]) if "y" in flags else matcher.everywhere
    return bool(matcher.move(node, start))
