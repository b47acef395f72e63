//! What kind of error each line tells of, where nothing but plain signals stand in it.

use super::Question;
use crate::classify::{NUMBERS, PLAIN, Signals, TEXTS};
use crate::value::json::{PickedNode, Wanted};
use crate::value::{Node, Number, Step, View};

/// Asks of plain signals; whatever is not plain is left to who reads with every care.
#[derive(Debug)]
pub struct Errors<F> {
    answer: F,
    wanted: Wanted,
}

/// Why a line has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// There is more in it than plain signals.
    Open,
    /// It is not JSON.
    Bad,
}

impl<T, F: Fn(&Signals<'_>) -> T> Errors<F> {
    /// Asks that of signals.
    pub fn new(answer: F) -> Self {
        let root = (0, &b""[..], None);
        let names = PLAIN.iter().map(|(name, _)| (0, name.as_bytes(), None));
        Self { answer, wanted: Wanted::new(std::iter::once(root).chain(names)) }
    }

    fn plain(&self, record: &PickedNode<'_>) -> Option<T> {
        if !record.is_all_wanted() {
            return None;
        }
        let mut nodes = [None; PLAIN.len()];
        for (slot, (node, (name, _))) in nodes.iter_mut().zip(PLAIN).enumerate() {
            let step = Step { key: name.as_bytes(), index: None, slot: Some(slot + 1) };
            *node = record.child(&step).ok()?;
        }
        let mut views = [const { None }; NUMBERS + TEXTS];
        for (node, (_, field)) in nodes.iter().zip(PLAIN) {
            let view = views.get_mut(field)?;
            // A field in both spellings is not plain.
            if let Some(node) = node
                && view.replace(node.view().ok()?).is_some()
            {
                return None;
            }
        }
        signals(&views).map(|signals| (self.answer)(&signals))
    }
}

fn signals<'a>(views: &'a [Option<View<'_>>; NUMBERS + TEXTS]) -> Option<Signals<'a>> {
    let (mut numbers, mut texts) = ([None; NUMBERS], [None; TEXTS]);
    let (for_numbers, for_texts) = views.split_at(NUMBERS);
    for (number, view) in numbers.iter_mut().zip(for_numbers) {
        *number = match view {
            None | Some(View::Null) => None,
            Some(View::Number(Number::Int(int))) => Some(*int),
            Some(_) => return None,
        };
    }
    for (text, view) in texts.iter_mut().zip(for_texts) {
        *text = match view {
            None | Some(View::Null) => None,
            Some(View::String(said)) => Some(said.as_str()?),
            Some(_) => return None,
        };
    }
    Signals::plain(numbers, texts)
}

impl<T: Send, F: Fn(&Signals<'_>) -> T + Sync> Question for Errors<F> {
    type Answer = Result<T, Unread>;

    fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    fn ask(&self, record: &PickedNode<'_>) -> Self::Answer {
        self.plain(record).ok_or(Unread::Open)
    }

    fn bad(&self) -> Self::Answer {
        Err(Unread::Bad)
    }

    fn is_marked(&self, answer: &Self::Answer) -> bool {
        matches!(answer, Err(Unread::Open))
    }
}
