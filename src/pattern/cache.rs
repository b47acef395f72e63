//! A bounded, process-wide store of compiled patterns: compiling costs far more than matching.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Pattern, PatternFault};
use crate::limits::Limits;

/// Patterns kept, and the bytes that they may take together; the oldest make room.
const CAPACITY: usize = 1_024;
const CAPACITY_BYTES: usize = 64 << 20;

type Key = (Box<[u8]>, Box<[u8]>, [usize; 5]);

#[derive(Default)]
struct Store {
    patterns: BTreeMap<Key, Arc<Pattern>>,
    order: VecDeque<Key>,
    bytes: usize,
}

impl Store {
    fn keep(&mut self, key: Key, pattern: &Arc<Pattern>) {
        if self.patterns.insert(key.clone(), Arc::clone(pattern)).is_some() {
            return;
        }
        self.order.push_back(key);
        self.bytes = self.bytes.saturating_add(pattern.memory());
        while self.order.len() > CAPACITY || self.bytes > CAPACITY_BYTES {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(dropped) = self.patterns.remove(&oldest) {
                self.bytes = self.bytes.saturating_sub(dropped.memory());
            }
        }
    }
}

/// The pattern compiled, from the store when it is there.
///
/// # Errors
/// [`PatternFault`] as [`Pattern::compile`]; refusals are not kept.
pub fn compiled(
    source: &[u8],
    flags: &[u8],
    limits: &Limits,
) -> Result<Arc<Pattern>, Box<PatternFault>> {
    static STORE: OnceLock<Mutex<Store>> = OnceLock::new();
    let store = STORE.get_or_init(Mutex::default);
    let bounds = [
        limits.pattern_characters,
        limits.pattern_bytes,
        limits.pattern_nesting,
        limits.text_bytes,
        limits.pattern_work,
    ];
    let key: Key = (source.into(), flags.into(), bounds);
    // A thread that panicked while it held the lock left the store whole: each change is one call.
    let found = {
        let store = store.lock().unwrap_or_else(PoisonError::into_inner);
        store.patterns.get(&key).map(Arc::clone)
    };
    if let Some(pattern) = found {
        return Ok(pattern);
    }
    let pattern = Arc::new(Pattern::compile(source, flags, limits)?);
    let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
    store.keep(key, &pattern);
    Ok(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_make_room() {
        let mut store = Store::default();
        for number in 0..=CAPACITY {
            let source = format!("a{number}").into_bytes().into_boxed_slice();
            let pattern = Pattern::compile(&source, b"", &Limits::DEFAULT).unwrap();
            store.keep((source, Box::default(), [0; 5]), &Arc::new(pattern));
        }
        let kept: usize = store.patterns.values().map(|pattern| pattern.memory()).sum();
        assert_eq!((store.patterns.len(), store.order.len()), (CAPACITY, CAPACITY));
        assert_eq!(store.bytes, kept);
        assert!(!store.patterns.keys().any(|(source, ..)| **source == *b"a0"));
    }
}
