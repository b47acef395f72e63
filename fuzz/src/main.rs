//! The same checks on bytes from a seed, for a stable compiler: `cargo run --release -- SEED COUNT`.

use std::process::ExitCode;

/// SplitMix64 (Steele, Lea, Flood, 2014).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let (Some(Ok(seed)), Some(Ok(count))) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: seeded SEED COUNT");
        return ExitCode::from(2);
    };
    for number in seed..seed.saturating_add(count) {
        let mut numbers = Numbers(number);
        let length = numbers.next() % 400;
        let bytes: Vec<u8> =
            (0..length).flat_map(|_| numbers.next().to_le_bytes()).take(length as usize).collect();
        if std::panic::catch_unwind(|| interlock_fuzz::check(&bytes)).is_err() {
            eprintln!("seed {number}: run again with `seeded {number} 1`");
            return ExitCode::FAILURE;
        }
    }
    println!("{count} cases from seed {seed} hold");
    ExitCode::SUCCESS
}
