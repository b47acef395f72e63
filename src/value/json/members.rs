//! The members that objects had in the texts before. Written the same way again, a name is told by
//! its bytes: mostly the one that came after the one before, if not then one of the next few.

use super::expected::Expected;
use super::scan::Scanner;

/// For each object a ring of members in the order in which they stood, each known by its position.
/// What is before the first of an object is known by the place of the object.
#[derive(Debug)]
pub(super) struct Members(Vec<Member>);

#[derive(Debug)]
pub(super) struct Member {
    /// The name and its colon, with the white space around it; of what is before the first, a byte
    /// that no text has.
    pub(super) written: Expected,
    /// The place of the value.
    pub(super) place: usize,
    /// The position of the member that follows.
    pub(super) next: usize,
}

/// So many members are kept in all, so that a text with other names on each line fills no memory.
const MOST: usize = 4_096;

/// Longer names are not kept.
const LONGEST: usize = 64;

/// So many members are compared before the name is read.
const COMPARED: usize = 16;

impl Members {
    /// No members of as many places.
    pub(super) fn new(places: usize) -> Self {
        let before = |place| Member { written: Expected::new(b"\xFF"), place, next: place };
        Self((0..places).map(before).collect())
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<&Member> {
        self.0.get(at)
    }

    /// What follows a member.
    #[inline]
    pub(super) fn next(&self, at: usize) -> usize {
        self.0.get(at).map_or(at, |member| member.next)
    }

    /// Moves behind the name that comes next, if it is one of those behind a member; its position.
    pub(super) fn pass(&self, behind: usize, scanner: &mut Scanner<'_>) -> Option<usize> {
        let mut at = self.next(behind);
        for _ in 0..COMPARED {
            let member = self.get(at)?;
            if member.written.is_passed(scanner) {
                return Some(at);
            }
            at = member.next;
            if at == behind {
                break;
            }
        }
        None
    }

    /// Keeps another behind a member, and answers the position of the last; as it was if there is
    /// no room.
    pub(super) fn learn(&mut self, behind: usize, written: &[u8], place: usize) -> usize {
        let at = self.0.len();
        match self.0.get_mut(behind) {
            Some(member) if at < MOST && written.len() <= LONGEST => {
                let next = std::mem::replace(&mut member.next, at);
                self.0.push(Member { written: Expected::new(written), place, next });
                at
            }
            _ => behind,
        }
    }
}
