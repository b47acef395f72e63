"""Find out whether a pattern matches, with sets of positions.

For a part of the pattern and a set of positions, ``move`` answers all positions at which a
match of that part can end; backward, all at which it can start. No path is followed twice,
so the work is bounded by a polynomial in the length of the text, whatever the pattern.
"""

from . import pattern_tree as tree

Positions = frozenset[int]


class Matcher:
    """Answers for one text, given as UTF-16 code units."""

    def __init__(self, units: list[int]) -> None:
        """Take the text."""
        self.units = units
        self.everywhere: Positions = frozenset(range(len(units) + 1))
        self.looks: dict[int, Positions] = {}

    def move(self, node: tree.Node, start: Positions, backward: bool = False) -> Positions:
        """Give the positions that one match of the node leads to from any of ``start``."""
        match node:
            case tree.Chars():
                return self.move_chars(node, start, backward)
            case tree.Sequence(parts):
                for part in reversed(parts) if backward else parts:
                    if not start:
                        break
                    start = self.move(part, start, backward)
                return start
            case tree.Choice(options):
                return frozenset().union(*(self.move(each, start, backward) for each in options))
            case tree.Repeat():
                return self.move_repeat(node, start, backward)
            case tree.Edge():
                return frozenset(at for at in start if self.is_edge(node, at))
            case tree.WordEdge(negated):
                return frozenset(at for at in start if self.is_word_edge(at) != negated)
            case tree.Look():
                return start & self.look(node)
            case tree.Reference(label):
                raise tree.PatternUnsupported(f"backreference {label}")

    def move_chars(self, node: tree.Chars, start: Positions, backward: bool) -> Positions:
        """Step over one unit that the set takes."""
        if backward:
            return frozenset(at - 1 for at in start if at > 0 and self.takes(node, at - 1))
        size = len(self.units)
        return frozenset(at + 1 for at in start if at < size and self.takes(node, at))

    def takes(self, node: tree.Chars, at: int) -> bool:
        """Tell whether a set takes the unit at a place."""
        return node.accepts(self.units[at])

    def move_repeat(self, node: tree.Repeat, start: Positions, backward: bool) -> Positions:
        """Take the turns that must be, then further ones until they reach nothing new.

        A turn that changes nothing ends the first part early: all turns after it are alike.
        """
        for _ in range(node.least):
            after = self.move(node.body, start, backward)
            if after == start:
                break
            start = after
        reached = newest = start
        turns = 0
        while newest and (node.most is None or turns < node.most - node.least):
            newest = self.move(node.body, newest, backward) - reached
            reached |= newest
            turns += 1
        return reached

    def is_edge(self, node: tree.Edge, at: int) -> bool:
        """Tell whether a place is the start or end of the text, or of a line."""
        if at == (0 if node.at_start else len(self.units)):
            return True
        beside = self.units[at - 1 if node.at_start else at]
        return node.multiline and tree.in_ranges(beside, tree.LINE_ENDS)

    def is_word(self, at: int) -> bool:
        """Tell whether a word unit stands at a place."""
        return 0 <= at < len(self.units) and tree.in_ranges(self.units[at], tree.WORD)

    def is_word_edge(self, at: int) -> bool:
        """Tell whether exactly one side of a place is a word unit."""
        return self.is_word(at - 1) != self.is_word(at)

    def look(self, node: tree.Look) -> Positions:
        """Give all places where a lookaround holds.

        Ahead, the body must start there: go backward from everywhere. Behind, it must end
        there: go forward from everywhere. The answer is kept, for it is always the same.
        """
        if id(node) not in self.looks:
            holds = self.move(node.body, self.everywhere, backward=node.ahead)
            self.looks[id(node)] = self.everywhere - holds if node.negated else holds
        return self.looks[id(node)]
