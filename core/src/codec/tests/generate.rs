//! Columns like those of sensors, from a seed, so that every machine tests the same.

/// A small generator of random numbers (xorshift64*), good enough for test data.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number of `0..end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Near 0, with standard deviation near `sigma`.
    pub(super) fn near(&mut self, sigma: f64) -> f64 {
        let sum: u64 = (0..12).map(|_| self.below(1 << 20)).sum();
        (sum as f64 / f64::from(1 << 20) - 6.0) * sigma
    }
}

/// A named column of floats.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) timestamps: Vec<i64>,
    pub(super) values: Vec<f64>,
}

const SECOND_NS: i64 = 1_000_000_000;

/// One column of each habit.
pub(super) fn columns(rows: usize, seed: u64) -> Vec<Column> {
    type Next = fn(&mut Random, usize, f64) -> f64;
    let kinds: [(&str, f64, Next); 14] = [
        ("constant", 21.5, |_, _, last| last),
        ("walk, 2 decimals", 20.0, |random, _, last| round(last + random.near(0.05), 2)),
        ("walk, 1 decimal", 20.0, |random, _, last| round(last + random.near(0.3), 1)),
        ("counter", 1e6, |random, _, last| last + random.below(50) as f64),
        (
            "counter that resets",
            0.0,
            |random, row, last| {
                if row % 500 == 499 { 0.0 } else { last + random.below(9) as f64 }
            },
        ),
        ("noise, full precision", 0.0, |random, row, _| (row as f64 * 0.31).sin() * 0.8 + random.near(0.1)),
        ("on/off", 0.0, |random, _, last| if random.below(60) == 0 { 1.0 - last } else { last }),
        ("three levels", 18.5, |random, _, last| {
            if random.below(20) == 0 { 16.5 + random.below(3) as f64 * 2.0 } else { last }
        }),
        ("spikes", 3.0, |random, _, _| {
            if random.below(90) == 0 { random.below(5000) as f64 } else { random.below(4) as f64 }
        }),
        ("step of 0.8 mV", 3.7, |random, _, last| {
            ((last / 0.0008).round() + random.near(1.5).round()) * 0.0008
        }),
        ("through binary32", 20.1, |random, _, last| f64::from(round(last + random.near(0.1), 2) as f32)),
        ("thirds", 20.0, |random, _, last| ((last * 3.0).round() + random.near(2.0).round()) / 3.0),
        ("off grid now and then", 1.0, |random, row, _| match row % 97 {
            13 => f64::NAN,
            14 => -0.0,
            15 => f64::INFINITY,
            _ => round(random.near(3.0), 2),
        }),
        ("any bits", 0.0, |random, _, _| f64::from_bits(random.next())),
    ];
    let mut random = Random::new(seed);
    kinds
        .into_iter()
        .enumerate()
        .map(|(index, (name, mut last, next))| {
            let mut values = Vec::with_capacity(rows);
            for row in 0..rows {
                last = next(&mut random, row, last);
                values.push(last);
            }
            Column { name, timestamps: timestamps(rows, index, &mut random), values }
        })
        .collect()
}

/// Regular, jittering, late or reporting on change, by `habit`.
pub(super) fn timestamps(rows: usize, habit: usize, random: &mut Random) -> Vec<i64> {
    let mut now = 1_700_000_000 * SECOND_NS;
    (0..rows)
        .map(|_| {
            now += match habit % 5 {
                0 => 60 * SECOND_NS,
                1 => (59 + random.below(3) as i64) * SECOND_NS,
                2 => 10 * SECOND_NS + (random.near(40.0) as i64) * 1_000_000,
                3 => (1 + random.below(900) as i64) * SECOND_NS,
                _ if random.below(100) == 0 => -90 * SECOND_NS,
                _ => 30 * SECOND_NS,
            };
            now
        })
        .collect()
}

fn round(value: f64, decimals: i32) -> f64 {
    let power = 10_f64.powi(decimals);
    (value * power).round() / power
}

/// Floats that codecs like to lose.
pub(super) fn special_values() -> Vec<f64> {
    let mut values = vec![
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::from_bits(0x7ff8_0000_0000_1234),
        f64::from_bits(0xfff0_0000_0000_0001),
        f64::MIN_POSITIVE,
        5e-324,
        -5e-324,
        f64::MAX,
        f64::MIN,
        1.5,
        0.1,
        -0.1,
        9_007_199_254_740_992.0,
        9_007_199_254_740_994.0,
        -9_007_199_254_740_993.0,
        1e15 + 0.3,
        f64::from(0.1_f32),
    ];
    for index in 0..300_i32 {
        values.push((f64::from(index) * 0.7).sin() * 10_f64.powi(index % 40 - 20));
        values.push(values[(index % 20) as usize]);
        values.push(f64::from(index / 7) / 10.0);
    }
    values
}
