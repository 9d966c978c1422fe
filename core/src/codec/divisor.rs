//! The common divisor of a column: steps of an ADC, cents of a euro, milliseconds of nanoseconds.
//!
//! Every number is written as `quotient × divisor + remainder` with one divisor and one remainder for
//! the column, so that the quotients are small. Divisibility of 64-bit numbers is tested by one
//! multiplication with the inverse of the odd part modulo 2^64, not by a division (Granlund and
//! Montgomery, "Division by Invariant Integers using Multiplication", 1994, section 9).

use super::varint;

/// The greatest common divisor; 0 only of 0 and 0.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if a == 0 || b == 0 {
        return a | b;
    }
    let shift = (a | b).trailing_zeros();
    let (mut a, mut b) = (a >> a.trailing_zeros(), b >> b.trailing_zeros());
    while a != b {
        if a < b {
            core::mem::swap(&mut a, &mut b);
        }
        a -= b;
        a >>= a.trailing_zeros();
    }
    a << shift
}

/// Whether 1 is the only common divisor.
pub(super) fn coprime(numbers: impl Iterator<Item = i64>) -> bool {
    let mut common = 0;
    for number in numbers {
        common = gcd(common, number.unsigned_abs());
        if common == 1 {
            return true;
        }
    }
    false
}

/// Exact division by one number, at least 1 and at most `i64::MAX`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisor {
    divisor: u64,
    shift: u32,
    inverse: u64,
    quotient_max: u64,
}

impl Divisor {
    /// Prepares division by `divisor`; 0 and numbers over `i64::MAX` count as 1.
    pub(super) fn new(divisor: u64) -> Self {
        let divisor = if divisor == 0 || divisor > i64::MAX as u64 { 1 } else { divisor };
        let shift = divisor.trailing_zeros();
        let odd = divisor >> shift;
        // Newton's iteration doubles the correct bits: 5 (3 × odd xor 2) → 10 → 20 → 40 → 80.
        let mut inverse = odd.wrapping_mul(3) ^ 2;
        for _ in 0..4 {
            inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        }
        Self { divisor, shift, inverse, quotient_max: i64::MAX as u64 / divisor }
    }

    /// The number divided by.
    pub(super) fn get(self) -> u64 {
        self.divisor
    }

    /// `number / divisor`, if nothing is left over; never for `i64::MIN`.
    pub(super) fn exact(self, number: i64) -> Option<i64> {
        let quotient = self.quotient(number);
        let whole = number & ((1 << self.shift) - 1) == 0;
        let small = (quotient as u64).wrapping_add(self.quotient_max) <= 2 * self.quotient_max;
        (whole && small).then_some(quotient)
    }

    /// `number / divisor`, for a number that is known to be a multiple.
    pub(super) fn quotient(self, number: i64) -> i64 {
        (number >> self.shift).wrapping_mul(self.inverse as i64)
    }
}

/// Divides a column in place, and gives divisor and remainder: `number = quotient × divisor + remainder`.
///
/// The divisor is the largest for which all numbers leave the same remainder, or 1 where the numbers
/// are all the same or too far apart; the remainder is not negative and below the divisor.
pub(super) fn divide(numbers: &mut [i64]) -> (u64, u64) {
    let Some(&first) = numbers.first() else { return (1, 0) };
    let mut common = 0;
    let mut divisor = Divisor::new(1);
    for &number in numbers.iter() {
        let Some(difference) = number.checked_sub(first) else { return (1, 0) };
        if difference == 0 || common != 0 && divisor.exact(difference).is_some() {
            continue;
        }
        common = gcd(common, difference.unsigned_abs());
        if common == 1 || common > i64::MAX as u64 {
            return (1, 0);
        }
        divisor = Divisor::new(common);
    }
    if common == 0 {
        return (1, 0);
    }
    let remainder = first.rem_euclid(common as i64);
    // Below the smallest number there is no room for a remainder.
    if numbers.iter().any(|number| number.checked_sub(remainder).is_none()) {
        return (1, 0);
    }
    for number in numbers {
        *number = divisor.quotient(number.wrapping_sub(remainder));
    }
    (common, remainder as u64)
}

/// [`divide`], and the bytes that divisor and remainder take.
pub(super) fn divide_len(numbers: &mut [i64]) -> usize {
    let (divisor, remainder) = divide(numbers);
    varint::len(divisor) + if divisor > 1 { varint::len(remainder) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::{Divisor, divide, gcd};
    use proptest::{collection::vec, prelude::*};

    fn gcd_naive(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd_naive(b, a % b) }
    }

    #[test]
    fn columns_are_divided() {
        let mut numbers = [1003, 1013, 983];
        assert_eq!(divide(&mut numbers), (10, 3));
        assert_eq!(numbers, [100, 101, 98]);
        let mut negative = [-7, -12, 3];
        assert_eq!(divide(&mut negative), (5, 3));
        assert_eq!(negative, [-2, -3, 0]);
        for mut same in [vec![], vec![5], vec![5, 5], vec![1, 2, 4], vec![i64::MIN, i64::MAX]] {
            let before = same.clone();
            assert_eq!(divide(&mut same), (1, 0));
            assert_eq!(same, before);
        }
    }

    proptest! {
        #[test]
        fn gcd_is_the_definition(a in any::<u64>(), b in any::<u64>(), shift in 0_u32..64) {
            prop_assert_eq!(gcd(a >> shift, b), gcd_naive(a >> shift, b));
            prop_assert_eq!(gcd(a, b >> shift), gcd_naive(a, b >> shift));
            prop_assert_eq!(gcd(0, b), b);
        }

        #[test]
        fn exact_division_is_the_definition(
            number in any::<i64>(),
            divisor in 1..=i64::MAX,
            shift in 0_u32..63,
            multiple in any::<i64>(),
        ) {
            let divisor = (divisor >> shift).max(1);
            let exact = Divisor::new(divisor as u64);
            for number in [number, number >> shift, multiple.wrapping_mul(divisor), i64::MIN] {
                let naive = (number % divisor == 0 && number != i64::MIN).then(|| number / divisor);
                prop_assert_eq!(exact.exact(number), naive, "{} / {}", number, divisor);
            }
        }

        #[test]
        fn divided_columns_come_back(
            numbers in vec(any::<i64>(), 1..20),
            shift in 0_u32..64,
            factor in 1_i64..1000,
        ) {
            let mut numbers = numbers;
            for number in &mut numbers {
                *number = (*number >> shift).wrapping_mul(factor);
            }
            let mut quotients = numbers.clone();
            let (divisor, remainder) = divide(&mut quotients);
            prop_assert!(remainder < divisor);
            for (&quotient, &number) in quotients.iter().zip(&numbers) {
                let back = quotient.wrapping_mul(divisor as i64).wrapping_add(remainder as i64);
                prop_assert_eq!(back, number);
            }
            if numbers.iter().any(|&number| number != numbers[0]) && shift >= 12 {
                prop_assert!(divisor.is_multiple_of(factor as u64));
            }
        }
    }
}
