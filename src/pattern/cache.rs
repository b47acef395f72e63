//! A bounded, process-wide store of compiled patterns: compiling costs far more than matching.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Pattern, PatternFault};
use crate::limits::Limits;

/// Patterns kept; the oldest makes room.
const CAPACITY: usize = 1_024;

type Key = (Box<[u8]>, Box<[u8]>, [usize; 4]);

#[derive(Default)]
struct Store {
    patterns: BTreeMap<Key, Arc<Pattern>>,
    order: VecDeque<Key>,
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
    if store.order.len() >= CAPACITY
        && let Some(oldest) = store.order.pop_front()
    {
        store.patterns.remove(&oldest);
    }
    if store.patterns.insert(key.clone(), Arc::clone(&pattern)).is_none() {
        store.order.push_back(key);
    }
    Ok(pattern)
}
