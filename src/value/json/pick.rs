//! JSON text of which only some places are wanted: the rest is checked and passed over.

use std::cell::OnceCell;

use super::scan::{Raw, Scalar, Sink, decode, scan};
use super::{Document, JsonFault, JsonNode, number, utf8};
use crate::value::{MemberName, Node, Read, Step, Text, View};

/// A tree of places; the first is the whole value.
#[derive(Debug, Default)]
pub struct Wanted {
    places: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    parent: usize,
    /// Key and index of each child, and its place.
    children: Vec<(Box<[u8]>, Option<usize>, usize)>,
}

impl Wanted {
    /// Takes places in an order in which parents come first: each with its parent, key and index.
    pub fn new<'a>(places: impl Iterator<Item = (usize, &'a [u8], Option<usize>)>) -> Self {
        let mut wanted = Self::default();
        for (at, (parent, key, index)) in places.enumerate() {
            if at != 0
                && let Some(parent) = wanted.places.get_mut(parent)
            {
                parent.children.push((key.into(), index, at));
            }
            wanted.places.push(Place { parent, children: Vec::new() });
        }
        wanted
    }

    fn children(&self, place: usize) -> &[(Box<[u8]>, Option<usize>, usize)] {
        self.places.get(place).map_or(&[], |place| &place.children)
    }

    fn member(&self, place: usize, name: &[u8]) -> Option<usize> {
        self.children(place).iter().find(|(key, ..)| **key == *name).map(|(.., at)| *at)
    }

    fn item(&self, place: usize, item: usize) -> Option<usize> {
        self.children(place).iter().find(|(_, index, _)| *index == Some(item)).map(|(.., at)| *at)
    }
}

/// Reads one text after the other and keeps its room between them.
#[derive(Debug)]
pub struct Picker<'w> {
    wanted: &'w Wanted,
    found: Vec<Found>,
    frames: Vec<Frame>,
    open: Vec<bool>,
}

/// A container that is open.
#[derive(Clone, Copy, Debug)]
enum Frame {
    /// Nothing in it is wanted.
    Other,
    /// At a place.
    Object(usize),
    /// At a place; how many items it has had.
    Array(usize, usize),
}

/// What is at a place.
#[derive(Clone, Copy, Debug)]
enum Found {
    Nothing,
    Scalar(Scalar),
    Array,
    Object,
}

impl<'w> Picker<'w> {
    /// A reader of these places.
    pub fn new(wanted: &'w Wanted) -> Self {
        Self { wanted, found: Vec::new(), frames: Vec::new(), open: Vec::new() }
    }

    /// Reads one JSON value, white space around it allowed.
    ///
    /// # Errors
    /// [`JsonFault`] exactly where [`Document::parse`] has one.
    pub fn pick<'a>(&'a mut self, input: &'a [u8]) -> Result<Picked<'a>, JsonFault> {
        let text = utf8(input)?;
        self.found.clear();
        self.found.resize(self.wanted.places.len(), Found::Nothing);
        self.frames.clear();
        let Self { wanted, found, frames, open } = self;
        let mut sink = Finder { wanted, text, found, frames, named: Some(0) };
        scan(text, open, &mut sink)?;
        Ok(Picked { wanted, text, found, whole: OnceCell::new() })
    }
}

/// Notes what stands at the wanted places.
struct Finder<'a> {
    wanted: &'a Wanted,
    text: &'a str,
    found: &'a mut Vec<Found>,
    frames: &'a mut Vec<Frame>,
    /// The place of the value that comes next, unless it is an item.
    named: Option<usize>,
}

impl Finder<'_> {
    /// Notes a value, and answers its place.
    fn note(&mut self, value: Found) -> Option<usize> {
        let place = match self.frames.last_mut() {
            Some(Frame::Array(array, items)) => {
                *items += 1;
                self.wanted.item(*array, *items - 1)
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
        let mut gone = vec![false; self.found.len()];
        for (at, entry) in self.wanted.places.iter().enumerate().skip(place) {
            let goes = at == place || gone.get(entry.parent) == Some(&true);
            if let (Some(gone), Some(found)) = (gone.get_mut(at), self.found.get_mut(at))
                && goes
            {
                *gone = true;
                *found = Found::Nothing;
            }
        }
    }
}

impl Sink for Finder<'_> {
    fn begin(&mut self, object: bool) {
        let place = self.note(if object { Found::Object } else { Found::Array });
        let place = place.filter(|place| !self.wanted.children(*place).is_empty());
        self.frames.push(match place {
            None => Frame::Other,
            Some(place) if object => Frame::Object(place),
            Some(place) => Frame::Array(place, 0),
        });
    }

    fn end(&mut self) {
        self.frames.pop();
    }

    fn name(&mut self, Raw { start, end, escaped }: Raw) {
        let Some(Frame::Object(object)) = self.frames.last() else { return };
        let name = self.text.as_bytes().get(start..end).unwrap_or_default();
        self.named = if escaped {
            let mut decoded = Vec::new();
            decode(name, &mut decoded);
            self.wanted.member(*object, &decoded)
        } else {
            self.wanted.member(*object, name)
        };
    }

    fn scalar(&mut self, scalar: Scalar) {
        self.note(Found::Scalar(scalar));
    }
}

/// A text that was read, with what is at its wanted places.
#[derive(Debug)]
pub struct Picked<'a> {
    wanted: &'a Wanted,
    text: &'a str,
    found: &'a [Found],
    /// The whole of it, read when somebody asks beyond the wanted places.
    whole: OnceCell<Option<Document>>,
}

impl Picked<'_> {
    /// The value itself.
    pub fn root(&self) -> PickedNode<'_> {
        PickedNode::At(self, 0)
    }

    fn whole(&self, place: usize) -> Option<JsonNode<'_>> {
        let whole = self.whole.get_or_init(|| Document::parse(self.text.as_bytes()).ok());
        let root = whole.as_ref()?.root();
        let mut steps = Vec::new();
        let mut at = place;
        while at != 0 {
            let parent = self.wanted.places.get(at)?.parent;
            let (key, index, _) =
                self.wanted.children(parent).iter().find(|(.., own)| *own == at)?;
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
