//! Bytes of libFuzzer as choices: see `interlock_fuzz`.

#![no_main]

libfuzzer_sys::fuzz_target!(|choices: &[u8]| interlock_fuzz::check(choices));
