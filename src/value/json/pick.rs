//! JSON text of which only some places are wanted.

use std::cell::OnceCell;

use super::scan::{Raw, Scalar, decode};
use super::{Document, JsonNode, number};
use crate::value::{self, MemberName, Node, Number, Read, Step, Text, View};

/// A tree of places; the first is the whole value.
#[derive(Debug, Default)]
pub struct Wanted {
    places: Vec<Place>,
    /// Whether two places are the same item of an array, as `0` and `00` are, which as names of
    /// members are two: such texts are read whole.
    ambiguous: bool,
}

#[derive(Debug)]
struct Place {
    parent: usize,
    children: Vec<Child>,
}

#[derive(Debug)]
pub(super) struct Child {
    pub(super) key: Box<[u8]>,
    pub(super) index: Option<usize>,
    place: usize,
}

impl Wanted {
    /// Takes places in an order in which parents come first: each with its parent, key and index.
    pub fn new<'a>(places: impl Iterator<Item = (usize, &'a [u8], Option<usize>)>) -> Self {
        let mut wanted = Self::default();
        for (at, (parent, key, index)) in places.enumerate() {
            if at != 0
                && let Some(parent) = wanted.places.get_mut(parent)
            {
                let is_same = |child: &Child| index.is_some() && child.index == index;
                wanted.ambiguous |= parent.children.iter().any(is_same);
                parent.children.push(Child { key: key.into(), index, place: at });
            }
            wanted.places.push(Place { parent, children: Vec::new() });
        }
        wanted
    }

    /// How many places there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn children(&self, place: usize) -> &[Child] {
        self.places.get(place).map_or(&[], |place| &place.children)
    }

    pub(super) fn child(&self, place: usize, is: impl Fn(&Child) -> bool) -> Option<usize> {
        self.children(place).iter().find(|child| is(child)).map(|child| child.place)
    }

    /// The places one step below one.
    pub(super) fn below(&self, place: usize) -> impl Iterator<Item = usize> {
        self.children(place).iter().map(|child| child.place)
    }
}

/// What is at a place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    Nothing,
    Scalar(Scalar),
    Array,
    Object,
}

/// A text that was read, with what is at its wanted places.
#[derive(Debug)]
pub struct Picked<'a> {
    pub(super) wanted: &'a Wanted,
    pub(super) text: &'a str,
    pub(super) found: &'a [Found],
    /// Whether it has members that nobody asks for.
    pub(super) has_others: bool,
    /// The whole of it, read when somebody asks beyond the wanted places.
    pub(super) whole: OnceCell<Option<Document>>,
}

impl Picked<'_> {
    /// The value itself.
    pub fn root(&self) -> PickedNode<'_> {
        let whole = if self.wanted.ambiguous { self.whole(0) } else { None };
        whole.map_or(PickedNode::At(self, 0), PickedNode::Other)
    }

    fn whole(&self, place: usize) -> Option<JsonNode<'_>> {
        let whole = self.whole.get_or_init(|| Document::parse(self.text.as_bytes()).ok());
        let root = whole.as_ref()?.root();
        let mut steps = Vec::new();
        let mut at = place;
        while at != 0 {
            let parent = self.wanted.places.get(at)?.parent;
            let mut siblings = self.wanted.children(parent).iter();
            let Child { key, index, .. } = siblings.find(|child| child.place == at)?;
            steps.push(Step { key, index: *index, slot: None });
            at = parent;
        }
        steps.iter().rev().try_fold(root, |node, step| node.child(step).ok()?)
    }
}

/// A value of a text that was read for its wanted places.
#[derive(Clone, Copy, Debug)]
pub enum PickedNode<'a> {
    /// A wanted place.
    At(&'a Picked<'a>, usize),
    /// Any other.
    Other(JsonNode<'a>),
}

impl<'a> PickedNode<'a> {
    /// Whether the whole value is an object of which all members are wanted.
    pub fn is_all_wanted(&self) -> bool {
        matches!(self, Self::At(picked, 0) if !picked.has_others
            && matches!(picked.found.first(), Some(Found::Object)))
    }

    /// The same value in the whole document.
    fn whole(&self) -> Option<JsonNode<'a>> {
        match self {
            Self::At(picked, place) => picked.whole(*place),
            Self::Other(node) => Some(*node),
        }
    }
}

impl Node for PickedNode<'_> {
    fn view(&self) -> Read<View<'_>> {
        let (picked, place) = match self {
            Self::At(picked, place) => (picked, *place),
            Self::Other(node) => return node.view(),
        };
        let text = |Raw { start, end, escaped }| {
            let raw: &[u8] = picked.text.as_bytes().get(start..end).unwrap_or_default();
            if !escaped {
                return Text::from_generalised(raw);
            }
            let mut decoded = Vec::new();
            decode(raw, &mut decoded);
            Text::from_generalised(decoded)
        };
        Ok(match picked.found.get(place).copied().unwrap_or(Found::Nothing) {
            Found::Nothing | Found::Scalar(Scalar::Null) => View::Null,
            Found::Scalar(Scalar::True) => View::Boolean(true),
            Found::Scalar(Scalar::False) => View::Boolean(false),
            Found::Scalar(Scalar::Number { start, end }) => {
                number(picked.text.get(start..end).unwrap_or_default())?
            }
            Found::Scalar(Scalar::String(raw)) => View::String(text(raw)),
            Found::Array => View::Array,
            Found::Object => View::Object,
        })
    }

    fn scalar(&self) -> Option<value::Scalar<'_>> {
        let Self::At(picked, place) = self else { return None };
        let Found::Scalar(scalar) = picked.found.get(*place)? else { return None };
        Some(match *scalar {
            Scalar::Null => value::Scalar::Null,
            Scalar::True => value::Scalar::Boolean(true),
            Scalar::False => value::Scalar::Boolean(false),
            Scalar::Number { start, end } => match number(picked.text.get(start..end)?).ok()? {
                View::Number(Number::Int(int)) => value::Scalar::Int(int),
                View::Number(Number::Float(float)) => value::Scalar::Float(float),
                _ => return None,
            },
            Scalar::String(Raw { start, end, escaped: false }) => {
                value::Scalar::Text(picked.text.as_bytes().get(start..end)?)
            }
            Scalar::String(_) => return None,
        })
    }

    #[inline]
    fn at(&self, slot: usize) -> Option<Self> {
        let Self::At(picked, 0) = self else { return None };
        let there = !matches!(picked.found.get(slot), None | Some(Found::Nothing));
        there.then_some(Self::At(picked, slot))
    }

    #[inline]
    fn child(&self, step: &Step<'_>) -> Read<Option<Self>> {
        if let (Self::At(picked, place), Some(slot)) = (self, step.slot)
            && picked.wanted.places.get(slot).is_some_and(|wanted| wanted.parent == *place)
        {
            let there = !matches!(picked.found.get(slot), None | Some(Found::Nothing));
            return Ok(there.then_some(Self::At(picked, slot)));
        }
        let child = self.whole().map(|node| node.child(step)).transpose()?;
        Ok(child.flatten().map(Self::Other))
    }

    fn length(&self) -> Read<usize> {
        self.whole().map_or(Ok(0), |node| node.length())
    }

    fn any_item(&self, visit: &mut dyn FnMut(Self) -> Read<bool>) -> Read<bool> {
        let Some(node) = self.whole() else { return Ok(false) };
        node.any_item(&mut |item| visit(Self::Other(item)))
    }

    fn members(&self, limit: usize) -> Read<Vec<(MemberName, Self)>> {
        let Some(node) = self.whole() else { return Ok(Vec::new()) };
        let members = node.members(limit)?;
        Ok(members.into_iter().map(|(name, node)| (name, Self::Other(node))).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::super::Picker;
    use super::*;
    use crate::canonical;

    /// Parts of texts that are JSON now and then.
    const PARTS: [&str; 23] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"b\"",
        "\"\\u0061\"",
        "\"a\\ud83d\\ude00\\n\"",
        "1",
        "-0.5e3",
        "01",
        "null",
        "true",
        "false",
        " ",
        "\"long enough for two chunks\"",
        "\"é\"",
        "\\",
        "\t",
        "\0",
        "\"",
    ];

    /// Names that are compared at once, in parts, and not at all when they come again.
    const LONG: &str = "a name of more than sixteen bytes";
    const LONGER: &str =
        "a name of more than sixty-four bytes, which nobody keeps for the next text";

    fn text() -> impl Strategy<Value = String> {
        let scalar = select(vec!["1", "\"x\"", "null", "true", "\"a\\nb\"", "2.50", "[]", "{}"]);
        scalar.prop_map(str::to_owned).prop_recursive(4, 24, 4, |inner| {
            let name = select(vec!["a", "b", "c", "0", "00", "1", "\\u0061", LONG, LONGER]);
            let colon = select(vec![":", ": ", " : "]);
            let member = (name, colon, inner.clone())
                .prop_map(|(name, colon, value)| format!("\"{name}\"{colon}{value}"));
            prop_oneof![
                vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
                vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(", "))),
            ]
        })
    }

    /// a, a.b, a.0, b, b.a.c, 1, the long names; also a.00, which in an array is a.0
    fn wanted(ambiguous: bool) -> Wanted {
        let places = [(0, "", None), (0, "a", None), (1, "b", None), (1, "0", Some(0))];
        let more = [(0, "b", None), (4, "a", None), (5, "c", None), (0, "1", Some(1))];
        let more = more.into_iter().chain([(0, LONG, None), (0, LONGER, None)]);
        let all = places.into_iter().chain(more).chain(ambiguous.then_some((1, "00", Some(0))));
        Wanted::new(all.map(|(parent, key, index)| (parent, key.as_bytes(), index)))
    }

    fn read<N: Node>(node: &N) -> String {
        canonical::canonical(node, 64).unwrap_or_else(|fault| format!("{fault:?}"))
    }

    /// What is at each place, by slots and without.
    fn seen<N: Node>(root: &N, wanted: &Wanted) -> Vec<Option<String>> {
        let mut nodes = vec![Some(root.clone())];
        for place in 1..wanted.places.len() {
            let parent = wanted.places[place].parent;
            let child = wanted.children(parent).iter().find(|child| child.place == place).unwrap();
            let step = Step { key: &child.key, index: child.index, slot: Some(place) };
            nodes.push(nodes[parent].as_ref().and_then(|node| node.child(&step).unwrap()));
        }
        nodes.iter().map(|node| node.as_ref().map(read)).collect()
    }

    /// Whether it is an object of wanted members.
    fn is_all_wanted(root: JsonNode<'_>, wanted: &Wanted) -> bool {
        let members = root.members(usize::MAX).unwrap();
        let is_wanted = |name: &MemberName| {
            let is_it = |child: &Child| *name == MemberName::Text(child.key.clone());
            wanted.children(0).iter().any(is_it)
        };
        matches!(root.view(), Ok(View::Object)) && members.iter().all(|(name, _)| is_wanted(name))
    }

    proptest! {
        #[test]
        fn what_is_picked_is_what_is_there(
            told in vec((text(), vec(select(&PARTS[..]), 0..12), 0_u8..3), 1..6),
            ambiguous in any::<bool>(),
        ) {
            let wanted = wanted(ambiguous);
            let mut picker = Picker::new(&wanted);
            let written = told.into_iter().map(|(value, parts, kind)| match kind {
                0 => parts.concat(),
                1 => value,
                _ => value + parts.first().unwrap_or(&""),
            });
            let texts: Vec<_> = written.collect();
            // Twice, so that the second is read by its shape; then in turn, by the names alone.
            for text in texts.iter().flat_map(|text| [text, text]).chain(&texts).chain(&texts) {
                match (picker.pick(text.as_bytes()), Document::parse(text.as_bytes())) {
                    (Ok(picked), Ok(document)) => {
                        let (ours, theirs) = (picked.root(), document.root());
                        let there = seen(&theirs, &wanted);
                        prop_assert_eq!(&seen(&ours, &wanted), &there, "{}", text);
                        let at = |slot| ours.at(slot).map(|node| read(&node));
                        let at_once: Vec<_> = (0..there.len()).map(at).collect();
                        prop_assert!(ambiguous || at_once == there, "{}", text);
                        if !ambiguous {
                            let all = is_all_wanted(theirs, &wanted);
                            prop_assert_eq!(ours.is_all_wanted(), all, "{}", text);
                        }
                    }
                    (picked, document) => {
                        prop_assert_eq!(picked.err(), document.err(), "{}", text);
                    }
                }
            }
        }
    }

    #[test]
    fn what_no_name_begins_with_is_refused() {
        let wanted = wanted(false);
        for text in ["{\0 1}", "{\0: 1}", "{\u{ff} 1}", "{1: 1}", "{: 1}"] {
            let fault = Picker::new(&wanted).pick(text.as_bytes()).unwrap_err();
            assert_eq!(fault, Document::parse(text.as_bytes()).unwrap_err(), "{text}");
        }
    }

    #[test]
    fn names_without_end_are_read() {
        let wanted = wanted(false);
        let mut picker = Picker::new(&wanted);
        for number in 0..10_000 {
            let text = format!("{{\"{number:x}\": 1, \"a\": {{\"b\": {number}}}}}");
            let picked = picker.pick(text.as_bytes()).unwrap();
            let document = Document::parse(text.as_bytes()).unwrap();
            assert_eq!(seen(&picked.root(), &wanted), seen(&document.root(), &wanted), "{text}");
        }
    }
}
