//! Sources, flags and texts made from bytes, and what must hold for them: nothing panics, compiling
//! is bounded, and both engines answer alike.

mod grammar;
mod tape;

use std::time::{Duration, Instant};

use _core::limits::Limits;
use _core::pattern::{FaultKind, Pattern};
use _core::value::text::{code_points, from_points};

pub use tape::Tape;

/// A hang; what is promised is measured by `benches/worst_pattern.py`.
const HANG: Duration = Duration::from_secs(5);

const FLAGS: [&str; 16] =
    ["", "", "i", "m", "s", "im", "is", "y", "iy", "u", "iu", "mu", "imsu", "v", "iv", "imsv"];

/// Makes one case of the bytes and checks it.
///
/// # Panics
/// When something does not hold.
pub fn check(choices: &[u8]) {
    let mut tape = Tape::new(choices);
    let flags = tape.pick(&FLAGS).as_bytes();
    let source =
        if tape.below(4) == 0 { raw(&mut tape) } else { from_points(grammar::source(&mut tape)) };
    let texts: Vec<Vec<u8>> = (0..4).map(|_| from_points(grammar::text(&mut tape))).collect();
    check_one(&source, flags, &texts);
}

/// The bytes as they stand; points of the private area are lone halves.
fn raw(tape: &mut Tape<'_>) -> Vec<u8> {
    let text = String::from_utf8_lossy(tape.rest()).into_owned();
    from_points(text.chars().map(u32::from).map(|point| match point {
        0xE000..=0xE7FF => point - 0x800,
        _ => point,
    }))
}

fn check_one(source: &[u8], flags: &[u8], texts: &[Vec<u8>]) {
    let limits = Limits::DEFAULT;
    let before = Instant::now();
    let compiled = Pattern::compile(source, flags, &limits);
    assert!(before.elapsed() < HANG, "compiling took {:?}", before.elapsed());
    let pattern = match compiled {
        Ok(pattern) => pattern,
        Err(fault) => {
            let inside = code_points(source).count();
            assert!(fault.offset.is_none_or(|offset| offset <= inside), "{fault}");
            return;
        }
    };
    assert!(pattern.memory() <= limits.pattern_bytes);
    check_explanation(&pattern, source, flags, &limits);
    for (text, other) in texts.iter().zip(guarded(source, flags, &limits, texts)) {
        let answer = pattern.test(text);
        assert_eq!(answer, pattern.test(text), "twice");
        if let Some(other) = other {
            assert_eq!(answer, other, "engines on {:?}", String::from_utf8_lossy(text));
        }
        if text.iter().all(|byte| *byte < 0xF0) {
            assert_eq!(answer, pattern.test_narrow(text), "narrow");
        }
    }
}

fn check_explanation(pattern: &Pattern, source: &[u8], flags: &[u8], limits: &Limits) {
    let Ok(explanation) = pattern.explain(source, flags, limits) else {
        panic!("compiled and not explained");
    };
    let length = code_points(source).count();
    for note in &explanation.notes {
        assert!(note.start < note.end && note.end <= length, "{note:?}");
    }
}

/// The answers of the engine for lookaround: at its end the same pattern asks a question that is
/// always answered with yes, and that the other engine cannot ask.
fn guarded(
    source: &[u8],
    flags: &[u8],
    limits: &Limits,
    texts: &[Vec<u8>],
) -> Vec<Option<Result<bool, _core::pattern::TextFault>>> {
    let asking = [b"(?:", source, b")(?=[^]|$)"].concat();
    match Pattern::compile(&asking, flags, limits) {
        Ok(pattern) => texts.iter().map(|text| Some(pattern.test(text))).collect(),
        // It is a little larger and nested deeper.
        Err(fault) => {
            assert_eq!(fault.kind, FaultKind::TooLarge, "{fault}");
            vec![None; texts.len()]
        }
    }
}
