//! Predictors: what is expected of a number from those before it, and the residuals that are left.
//!
//! | code | predictor | expects of row i ≥ 1 |
//! | --- | --- | --- |
//! | 0 | first | number 0 |
//! | 1 | last | number i - 1 |
//! | 2 | linear | number i - 1, plus the step that led to it |
//! | 3 | half slope | number i - 1, plus half that step (rounded down) |
//!
//! For row 1 there is no step yet: linear and half slope expect number 0. All arithmetic wraps, so any
//! residuals give some numbers and any numbers come back.

/// How a column of integers is predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Predictor {
    /// Every number is near the first.
    First = 0,
    /// Every number is near the one before.
    #[default]
    Last = 1,
    /// Every step is near the one before.
    Linear = 2,
    /// Every step is near half of the one before.
    HalfSlope = 3,
}

impl Predictor {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::First, Self::Last, Self::Linear, Self::HalfSlope];

    /// The predictor stored as the low two bits of `code`.
    pub(super) const fn from_code(code: u8) -> Self {
        match code & 3 {
            0 => Self::First,
            1 => Self::Last,
            2 => Self::Linear,
            _ => Self::HalfSlope,
        }
    }

    /// Fills `out` with the residuals of rows `begin..begin + out.len()` of `numbers`; `begin` is ≥ 1.
    pub(super) fn residuals(self, numbers: &[i64], begin: usize, out: &mut [i64]) {
        let from = |back: usize| numbers.get(begin.saturating_sub(back)..).unwrap_or_default();
        let first = numbers.first().copied().unwrap_or_default();
        match self {
            Self::First => {
                for (out, &now) in out.iter_mut().zip(from(0)) {
                    *out = now.wrapping_sub(first);
                }
            }
            Self::Last => {
                for ((out, &now), &last) in out.iter_mut().zip(from(0)).zip(from(1)) {
                    *out = now.wrapping_sub(last);
                }
            }
            Self::Linear | Self::HalfSlope => {
                let halve = u32::from(self == Self::HalfSlope);
                let (out, begin) = match out.split_first_mut() {
                    // Row 1 has one number before it only.
                    Some((head, tail)) if begin == 1 => {
                        *head = numbers.get(1).copied().unwrap_or_default().wrapping_sub(first);
                        (tail, 2)
                    }
                    _ => (out, begin),
                };
                let from = |back: usize| numbers.get(begin.saturating_sub(back)..).unwrap_or_default();
                for (((out, &now), &last), &before) in out.iter_mut().zip(from(0)).zip(from(1)).zip(from(2)) {
                    let step = last.wrapping_sub(before) >> halve;
                    *out = now.wrapping_sub(last.wrapping_add(step));
                }
            }
        }
    }
}

/// Turns residuals back into numbers, block after block.
#[derive(Clone, Debug)]
pub(super) struct Restorer {
    predictor: Predictor,
    first: i64,
    last: i64,
    before: i64,
}

impl Restorer {
    /// Starts behind number 0, which is `first`.
    pub(super) fn new(predictor: Predictor, first: i64) -> Self {
        Self { predictor, first, last: first, before: first }
    }

    /// Replaces the residuals of the next rows by their numbers.
    pub(super) fn restore(&mut self, block: &mut [i64]) {
        match self.predictor {
            Predictor::First => {
                for number in block {
                    *number = number.wrapping_add(self.first);
                }
            }
            Predictor::Last => {
                let mut last = self.last;
                for number in block {
                    last = last.wrapping_add(*number);
                    *number = last;
                }
                self.last = last;
            }
            Predictor::Linear => {
                let (mut last, mut step) = (self.last, self.last.wrapping_sub(self.before));
                for number in block {
                    step = step.wrapping_add(*number);
                    last = last.wrapping_add(step);
                    *number = last;
                }
                (self.last, self.before) = (last, last.wrapping_sub(step));
            }
            Predictor::HalfSlope => {
                let (mut last, mut step) = (self.last, self.last.wrapping_sub(self.before));
                for number in block {
                    step = (step >> 1).wrapping_add(*number);
                    last = last.wrapping_add(step);
                    *number = last;
                }
                (self.last, self.before) = (last, last.wrapping_sub(step));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Predictor, Restorer};
    use proptest::{collection::vec, prelude::*};

    #[test]
    fn residuals_follow_the_table() {
        let numbers = [10, 13, 17, 20];
        let residuals = |predictor: Predictor| {
            let mut out = [0; 3];
            predictor.residuals(&numbers, 1, &mut out);
            out
        };
        assert_eq!(residuals(Predictor::First), [3, 7, 10]);
        assert_eq!(residuals(Predictor::Last), [3, 4, 3]);
        assert_eq!(residuals(Predictor::Linear), [3, 1, -1]);
        assert_eq!(residuals(Predictor::HalfSlope), [3, 3, 1]);
    }

    proptest! {
        #[test]
        fn restored_in_any_blocks(numbers in vec(any::<i64>(), 1..80), cut in 1_usize..40) {
            for predictor in Predictor::ALL {
                let mut restorer = Restorer::new(predictor, numbers[0]);
                let mut back = vec![numbers[0]];
                let mut begin = 1;
                while begin < numbers.len() {
                    let mut block = vec![0; cut.min(numbers.len() - begin)];
                    predictor.residuals(&numbers, begin, &mut block);
                    restorer.restore(&mut block);
                    begin += block.len();
                    back.extend(block);
                }
                prop_assert_eq!(&back, &numbers);
            }
        }
    }
}
