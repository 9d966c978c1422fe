//! Believable values: slow daily curves, noise that returns to its mean, things that switch.
//!
//! A generator of its own with a fixed seed: two runs behave alike.

use std::f64::consts::TAU;

/// SplitMix64: small, and good enough for weather.
pub(crate) struct Random(u64);

impl Random {
    /// A generator; the same seed gives the same numbers.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `[0, 1)`.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Roughly a normal distribution: the sum of twelve uniform numbers.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    /// True with probability `p`.
    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }
}

/// Noise that returns to zero.
pub(crate) struct Drift {
    value: f64,
    step: f64,
}

impl Drift {
    /// `step` is the size of one change.
    pub(crate) fn new(step: f64) -> Self {
        Self { value: 0.0, step }
    }

    /// The next value.
    pub(crate) fn next(&mut self, random: &mut Random) -> f64 {
        self.value = self.value * 0.985 + self.step * random.normal();
        self.value
    }
}

/// A daily curve: coldest before dawn, warmest in the afternoon.
pub(crate) fn daily(seconds: f64, mean: f64, swing: f64) -> f64 {
    mean - swing * ((seconds / 86_400.0 - 0.18) * TAU).cos()
}

/// Sunshine, 0 to 1: nothing at night.
pub(crate) fn sun(seconds: f64) -> f64 {
    (((seconds / 86_400.0).fract() - 0.25) * TAU).sin().max(0.0)
}

/// A machine that works in cycles: on for a while, off for a while.
pub(crate) struct Cycle {
    on: bool,
    left: f64,
    on_seconds: f64,
    off_seconds: f64,
}

impl Cycle {
    /// Off at first, for half its usual pause.
    pub(crate) fn new(on_seconds: f64, off_seconds: f64) -> Self {
        Self { on: false, left: off_seconds / 2.0, on_seconds, off_seconds }
    }

    /// Whether it is on, `seconds` later.
    pub(crate) fn next(&mut self, seconds: f64, random: &mut Random) -> bool {
        self.left -= seconds;
        if self.left <= 0.0 {
            self.on = !self.on;
            self.left =
                if self.on { self.on_seconds } else { self.off_seconds } * (0.7 + 0.6 * random.unit());
        }
        self.on
    }
}

/// Rounded to `decimals` places, as sensors do.
pub(crate) fn round(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}

/// `2026-11-30T08:14:05`, as firmware prints it that leaves out the zone.
pub(crate) fn text_without_zone(unix_seconds: u64) -> String {
    let (day, second) = (unix_seconds / 86_400, unix_seconds % 86_400);
    // Civil date of a day number, counted in 400-year eras that begin on 1 March.
    let since_0000_03_01 = day + 719_468;
    let (era, day_of_era) = (since_0000_03_01 / 146_097, since_0000_03_01 % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day_of_month:02}T{:02}:{:02}:{:02}",
        second / 3_600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(text_without_zone(0), "1970-01-01T00:00:00");
        assert_eq!(text_without_zone(951_782_399), "2000-02-28T23:59:59");
        assert_eq!(text_without_zone(951_782_400), "2000-02-29T00:00:00");
        assert_eq!(text_without_zone(1_796_022_845), "2026-11-30T07:14:05");
    }

    #[test]
    fn values_stay_believable() {
        let mut random = Random::new(1);
        let mut drift = Drift::new(0.05);
        for second in 0..100_000 {
            assert!(drift.next(&mut random).abs() < 3.0);
            assert!((10.0..=20.0).contains(&daily(f64::from(second), 15.0, 5.0)));
            assert!((0.0..=1.0).contains(&sun(f64::from(second))));
        }
        assert!(sun(0.0) == 0.0 && sun(43_200.0) > 0.99);
        assert_eq!(round(1.23456, 2), 1.23);
    }
}
