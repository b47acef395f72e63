//! Groups, names and modifiers.

use super::{Names, Parsed, Parser};
use crate::pattern::FaultKind;
use crate::pattern::ast::{Ast, FlagChange};
use crate::pattern::fault::PatternFault;
use crate::pattern::note::Remark;

impl Parser<'_> {
    pub(super) fn group(&mut self) -> Parsed<(Ast, Names, bool)> {
        let start = self.at;
        self.at += 1;
        self.descend(start)?;
        let parsed = self.group_body(start)?;
        if !self.take(')') {
            let message = "the group does not end; write `)`";
            return Err(PatternFault::invalid(
                "invalid.unmatched_paren",
                self.place(start),
                message,
            ));
        }
        self.depth -= 1;
        Ok(parsed)
    }

    /// One level deeper, in a group or a class in a class.
    pub(super) fn descend(&mut self, start: usize) -> Parsed<()> {
        self.depth += 1;
        if self.depth <= self.nesting {
            return Ok(());
        }
        Err(PatternFault {
            kind: FaultKind::TooLarge,
            slug: "unsupported.too_deep",
            offset: Some(self.place(start)),
            message: format!(
                "groups nested deeper than the limit of {}; take some out",
                self.nesting
            ),
        })
    }

    fn group_body(&mut self, start: usize) -> Parsed<(Ast, Names, bool)> {
        for (opening, behind, negated) in
            [("?=", false, false), ("?!", false, true), ("?<=", true, false), ("?<!", true, true)]
        {
            if self.take_all(opening) {
                self.remark(start, if behind { Remark::Behind } else { Remark::Ahead });
                let (body, names) = self.disjunction()?;
                // Annex B: a lookahead may be repeated, a lookbehind may not.
                let quantifiable = !behind && !self.flags.unicode;
                let look = Ast::Look { behind, negated, body: Box::new(body) };
                return Ok((look, names, quantifiable));
            }
        }
        if self.take_all("?<") {
            self.opened += 1;
            let number = self.opened;
            let name = self.group_name()?;
            self.names.insert(name.clone());
            let (body, mut names) = self.disjunction()?;
            if !names.insert(name.clone()) {
                let message =
                    format!("two groups named \"{name}\" that can both take part; rename one");
                let place = self.place(start);
                return Err(PatternFault::invalid("invalid.duplicate_name", place, message));
            }
            let body = Box::new(body);
            return Ok((Ast::Group { number, name: Some(name), body }, names, true));
        }
        if self.take('?') {
            let change = self.modifiers(start)?;
            let outer = self.flags;
            self.flags = change.applied(outer);
            let (body, names) = self.disjunction()?;
            self.flags = outer;
            return Ok((Ast::Modified { change, body: Box::new(body) }, names, true));
        }
        self.opened += 1;
        let number = self.opened;
        let (body, names) = self.disjunction()?;
        Ok((Ast::Group { number, name: None, body: Box::new(body) }, names, true))
    }

    /// `ims-ims:`, any part of it empty, after `(?`.
    fn modifiers(&mut self, start: usize) -> Parsed<FlagChange> {
        let mut change = FlagChange::default();
        let (mut on, mut signs) = (true, 0);
        let mut letters = 0;
        loop {
            let letter = self.peek();
            let field = match letter {
                Some('i') => &mut change.ignore_case,
                Some('m') => &mut change.multiline,
                Some('s') => &mut change.dot_all,
                Some('-') if signs == 0 => {
                    self.at += 1;
                    (on, signs) = (false, 1);
                    continue;
                }
                Some(':') if letters > 0 || signs == 0 => {
                    self.at += 1;
                    return Ok(change);
                }
                _ => return Err(self.foreign_group(start)),
            };
            if field.replace(on).is_some() {
                let message = "a modifier stands twice; write each once";
                return Err(PatternFault::invalid("invalid.modifiers", self.place(start), message));
            }
            letters += 1;
            self.at += 1;
        }
    }

    /// A group of another dialect, with what to write instead.
    fn foreign_group(&self, start: usize) -> PatternFault {
        let text: String = self
            .source
            .get(start + 2..)
            .unwrap_or_default()
            .iter()
            .take(40)
            .map(|unit| char::from_u32(*unit).unwrap_or('\u{FFFD}'))
            .collect();
        let (slug, message) = foreign(&text);
        PatternFault::invalid(slug, self.place(start), message)
    }

    pub(super) fn check_references(&self) -> Parsed<()> {
        match self.references.iter().find(|(name, _)| !self.names.contains(name)) {
            None => Ok(()),
            Some((name, at)) => Err(PatternFault::invalid(
                "invalid.named_reference",
                *at,
                format!("\\k<{name}> names no group; name the one that is meant `(?<{name}>`"),
            )),
        }
    }
}

/// Groups of other dialects, by what stands after `(?`.
const FOREIGN: [(&str, &str); 10] = [
    ("P<", "`(?P<name>` is not ECMAScript; write `(?<name>`"),
    ("P=", "`(?P=name)` is not ECMAScript; write `\\k<name>`"),
    ("P>", RECURSION),
    ("R", RECURSION),
    ("&", RECURSION),
    (">", "atomic groups do not exist in ECMAScript; write `(?:`"),
    ("#", "comments do not exist in ECMAScript; leave it out"),
    ("|", "branch reset groups do not exist in ECMAScript; write `(?:`"),
    ("'", "`(?'name'` is not ECMAScript; write `(?<name>`"),
    ("(", "conditional groups do not exist in ECMAScript; write each case as a branch"),
];

const RECURSION: &str = "recursion does not exist in ECMAScript; write out the part that is meant";

/// The slug and the message for a group that starts so after `(?`.
fn foreign(text: &str) -> (&'static str, &'static str) {
    let known = FOREIGN.iter().find(|(opening, _)| text.starts_with(opening));
    let letters = text.trim_start_matches(|letter: char| "imsxgUuadLnJ-".contains(letter));
    let number = text.trim_start_matches(['-', '+']);
    if let Some((_, message)) = known {
        ("invalid.group_kind", message)
    } else if number.starts_with(|digit: char| digit.is_ascii_digit()) {
        ("invalid.group_kind", RECURSION)
    } else if letters.starts_with(')') && letters.len() < text.len() {
        ("invalid.group_kind", "flags go in the flags, or write `(?i:...)`")
    } else if letters.starts_with(':') {
        ("invalid.modifiers", "only the letters i, m and s can be switched in a group, each once")
    } else {
        ("invalid.group_kind", "not a group of ECMAScript; write `(?:`, `(?=`, `(?!` or `(?<name>`")
    }
}
