//! Every cap of the core and its default.
//!
//! A caller may lower or raise each of them when compiling; nothing written in a spec can.

/// The caps that compiling and evaluating obey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Checks in one condition list.
    pub checks: usize,
    /// Condition lists in one set.
    pub rules: usize,
    /// Characters of a path.
    pub path_characters: usize,
    /// Segments of a path.
    pub path_segments: usize,
    /// Nesting of an operand or of a value that is read whole.
    pub depth: usize,
    /// Characters of a pattern's source.
    pub pattern_characters: usize,
    /// Bytes of a compiled pattern.
    pub pattern_bytes: usize,
    /// Nesting of groups in a pattern.
    pub pattern_nesting: usize,
    /// Bytes of all compiled patterns of one spec together.
    pub patterns_bytes: usize,
    /// Bytes of the text that a pattern runs over.
    pub text_bytes: usize,
    /// States of a pattern that may be looked at in one text; where its tables have the answer,
    /// none is.
    pub pattern_work: usize,
}

impl Limits {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        checks: 64,
        rules: usize::MAX,
        path_characters: 1_024,
        path_segments: 64,
        depth: 128,
        pattern_characters: 10_000,
        pattern_bytes: 1 << 20,
        pattern_nesting: 100,
        patterns_bytes: 32 << 20,
        text_bytes: 8 << 20,
        pattern_work: 1 << 26,
    };

    /// The names under which a caller sets a limit, with what is in force.
    pub fn entries(&self) -> [(&'static str, usize); 11] {
        [
            ("checks", self.checks),
            ("rules", self.rules),
            ("pathCharacters", self.path_characters),
            ("pathSegments", self.path_segments),
            ("depth", self.depth),
            ("patternCharacters", self.pattern_characters),
            ("patternBytes", self.pattern_bytes),
            ("patternNesting", self.pattern_nesting),
            ("patternsBytes", self.patterns_bytes),
            ("textBytes", self.text_bytes),
            ("patternWork", self.pattern_work),
        ]
    }

    /// Sets the limit called `name`; false when there is none of that name.
    ///
    /// Nesting stays bounded whatever is asked: recursion follows it.
    pub fn set(&mut self, name: &str, value: usize) -> bool {
        let field = match name {
            "checks" => &mut self.checks,
            "rules" => &mut self.rules,
            "pathCharacters" => &mut self.path_characters,
            "pathSegments" => &mut self.path_segments,
            "depth" => &mut self.depth,
            "patternCharacters" => &mut self.pattern_characters,
            "patternBytes" => &mut self.pattern_bytes,
            "patternNesting" => &mut self.pattern_nesting,
            "patternsBytes" => &mut self.patterns_bytes,
            "textBytes" => &mut self.text_bytes,
            "patternWork" => &mut self.pattern_work,
            _ => return false,
        };
        *field = value;
        self.depth = self.depth.min(Self::DEEPEST);
        self.pattern_nesting = self.pattern_nesting.min(Self::DEEPEST);
        self.path_segments = self.path_segments.min(Self::DEEPEST);
        true
    }

    /// No nesting limit can be raised above this: the stack is finite, and small in some threads.
    pub const DEEPEST: usize = 200;

    /// States of a compiled pattern on our own engine, over bytes.
    pub const PATTERN_STATES: usize = 100_000;

    /// Digits of an integer that is read as a number: converting between bases is quadratic.
    pub const DIGITS: usize = 20_000;

    /// Values in one thing that is copied whole: shared parts are copied as often as they stand. A
    /// table of 100,000 rows is about two million.
    pub const NODES: usize = 4_000_000;
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
