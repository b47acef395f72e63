//! JSON text of which only some places are wanted: the rest is checked and passed over.

use std::cell::OnceCell;

use super::scan::{Raw, Scalar, Sink, decode, scan};
use super::shape::Shape;
use super::{Document, JsonFault, JsonNode, number, utf8};
use crate::value::{MemberName, Node, Read, Step, Text, View};

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
struct Child {
    key: Box<[u8]>,
    index: Option<usize>,
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

    fn children(&self, place: usize) -> &[Child] {
        self.places.get(place).map_or(&[], |place| &place.children)
    }

    fn child(&self, place: usize, is: impl Fn(&Child) -> bool) -> Option<usize> {
        self.children(place).iter().find(|child| is(child)).map(|child| child.place)
    }
}

/// Reads one text after the other and keeps its room between them.
#[derive(Debug)]
pub struct Picker<'w> {
    wanted: &'w Wanted,
    found: Vec<Found>,
    frames: Vec<Frame>,
    open: Vec<bool>,
    /// How the last text was built: the next one is mostly built alike.
    shape: Shape,
}

/// A container that is open.
#[derive(Clone, Copy, Debug)]
enum Frame {
    /// Nothing in it is wanted; how many are open inside.
    Other(usize),
    /// At a place.
    Object(usize),
    /// At a place; how many items it has had.
    Array(usize, usize),
}

/// What is at a place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    Nothing,
    Scalar(Scalar),
    Array,
    Object,
}

impl<'w> Picker<'w> {
    /// A reader of these places.
    pub fn new(wanted: &'w Wanted) -> Self {
        let (found, frames, open) = (Vec::new(), Vec::new(), Vec::new());
        Self { wanted, found, frames, open, shape: Shape::default() }
    }

    /// Reads one JSON value, white space around it allowed.
    ///
    /// # Errors
    /// [`JsonFault`] exactly where [`Document::parse`] has one.
    pub fn pick<'a>(&'a mut self, input: &'a [u8]) -> Result<Picked<'a>, JsonFault> {
        let text = utf8(input)?;
        let Self { wanted, found, frames, open, shape } = self;
        if !shape.read(text, found) {
            found.clear();
            found.resize(wanted.places.len(), Found::Nothing);
            frames.clear();
            shape.begin(text);
            let mut sink = Finder { wanted, text, found, frames, shape, named: Some(0) };
            scan(text, open, &mut sink)?;
            shape.end(text, found);
        }
        Ok(Picked { wanted, text, found, has_others: shape.has_others, whole: OnceCell::new() })
    }
}

/// Notes what stands at the wanted places.
struct Finder<'a> {
    wanted: &'a Wanted,
    text: &'a str,
    found: &'a mut Vec<Found>,
    frames: &'a mut Vec<Frame>,
    shape: &'a mut Shape,
    /// The place of the value that comes next, unless it is an item.
    named: Option<usize>,
}

impl Finder<'_> {
    /// Notes a value, and answers its place.
    fn note(&mut self, value: Found) -> Option<usize> {
        let place = match self.frames.last_mut() {
            Some(Frame::Array(array, items)) => {
                *items += 1;
                self.wanted.child(*array, |child| child.index == Some(*items - 1))
            }
            _ => self.named.take(),
        }?;
        if !matches!(self.found.get(place), Some(Found::Nothing)) {
            self.forget(place);
        }
        if let Some(found) = self.found.get_mut(place) {
            *found = value;
        }
        Some(place)
    }

    /// Of a repeated name the last counts: what the earlier value held is forgotten.
    fn forget(&mut self, place: usize) {
        self.shape.give_up();
        let mut gone = vec![place];
        while let Some(place) = gone.pop() {
            if let Some(found) = self.found.get_mut(place) {
                *found = Found::Nothing;
            }
            gone.extend(self.wanted.children(place).iter().map(|child| child.place));
        }
    }
}

impl Sink for Finder<'_> {
    fn begin(&mut self, object: bool) {
        if let Some(Frame::Other(inside)) = self.frames.last_mut() {
            *inside += 1;
            return;
        }
        let place = self.note(if object { Found::Object } else { Found::Array });
        let place = place.filter(|place| !self.wanted.children(*place).is_empty());
        self.frames.push(match place {
            None => Frame::Other(0),
            Some(place) if object => Frame::Object(place),
            Some(place) => Frame::Array(place, 0),
        });
    }

    fn end(&mut self) {
        match self.frames.last_mut() {
            Some(Frame::Other(inside @ 1..)) => *inside -= 1,
            _ => drop(self.frames.pop()),
        }
    }

    fn name(&mut self, Raw { start, end, escaped }: Raw) {
        let Some(Frame::Object(object)) = self.frames.last() else { return };
        let name = self.text.as_bytes().get(start..end).unwrap_or_default();
        self.named = if escaped {
            let mut decoded = Vec::new();
            decode(name, &mut decoded);
            self.wanted.child(*object, |child| *child.key == *decoded)
        } else {
            self.wanted.child(*object, |child| *child.key == *name)
        };
        self.shape.has_others |= *object == 0 && self.named.is_none();
    }

    fn scalar(&mut self, scalar: Scalar, start: usize, end: usize) {
        let place = self.note(Found::Scalar(scalar));
        self.shape.scalar(self.text, place, start, end);
    }
}

/// A text that was read, with what is at its wanted places.
#[derive(Debug)]
pub struct Picked<'a> {
    wanted: &'a Wanted,
    text: &'a str,
    found: &'a [Found],
    has_others: bool,
    /// The whole of it, read when somebody asks beyond the wanted places.
    whole: OnceCell<Option<Document>>,
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

    use super::*;
    use crate::canonical;

    /// Parts of texts that are JSON now and then.
    const PARTS: [&str; 22] = [
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
        "\"",
    ];

    fn text() -> impl Strategy<Value = String> {
        let scalar = select(vec!["1", "\"x\"", "null", "true", "\"a\\nb\"", "2.50", "[]", "{}"]);
        scalar.prop_map(str::to_owned).prop_recursive(4, 24, 4, |inner| {
            let name = select(vec!["a", "b", "c", "0", "00", "1", "\\u0061"]);
            let member =
                (name, inner.clone()).prop_map(|(name, value)| format!("\"{name}\": {value}"));
            prop_oneof![
                vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
                vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(", "))),
            ]
        })
    }

    /// a, a.b, a.0, b, b.a.c, 1; also a.00, which in an array is a.0
    fn wanted(ambiguous: bool) -> Wanted {
        let places = [(0, "", None), (0, "a", None), (1, "b", None), (1, "0", Some(0))];
        let more = [(0, "b", None), (4, "a", None), (5, "c", None), (0, "1", Some(1))];
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

    #[test]
    fn nesting_that_nobody_asks_for_takes_no_room() {
        let wanted = wanted(false);
        for open in ["[", "{\"c\":"] {
            let mut picker = Picker::new(&wanted);
            picker.pick(open.repeat(100_000).as_bytes()).unwrap_err();
            assert!(picker.frames.capacity() < 100);
        }
    }

    proptest! {
        #[test]
        fn what_is_picked_is_what_is_there(
            texts in vec((text(), vec(select(&PARTS[..]), 0..12), 0_u8..3), 1..6),
            ambiguous in any::<bool>(),
        ) {
            let wanted = wanted(ambiguous);
            let mut picker = Picker::new(&wanted);
            for (value, parts, kind) in texts {
                let text = match kind { 0 => parts.concat(), 1 => value, _ => value + parts.first().unwrap_or(&"") };
                // Twice, so that the second is read by its shape.
                for _ in 0..2 {
                    match (picker.pick(text.as_bytes()), Document::parse(text.as_bytes())) {
                        (Ok(picked), Ok(document)) => {
                            prop_assert_eq!(seen(&picked.root(), &wanted), seen(&document.root(), &wanted));
                        }
                        (picked, document) => prop_assert_eq!(picked.err(), document.err(), "{}", text),
                    }
                }
            }
        }
    }
}
