//! The engine of interlock: which condition lists hold for a record, exactly, three-valued, in
//! time linear in the text, and with reasons.
//!
//! Rooms, each importing only what stands after it: [`batch`], [`ruleset`], [`check`], [`path`],
//! [`pattern`], [`format`](mod@format), [`instant`], [`value`], [`limits`], [`error`], [`bits`]. No
//! clock, no I/O.

pub mod batch;
pub mod bits;
pub mod canonical;
pub mod check;
pub mod classify;
pub mod error;
pub mod format;
pub mod instant;
pub mod limits;
pub mod path;
pub mod pattern;
pub mod preview;
pub mod ruleset;
pub mod value;

#[cfg(feature = "python")]
mod py;
