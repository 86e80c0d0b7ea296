//! The numbers of the messages that have changed an entity, as a checksum of a few bytes.

use std::fmt;

use storagebox::Payload;

use crate::Failure;

/// The count, the sum, the sum of squares and the sum of cubes of some numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums([u128; 4]);

impl Sums {
    pub(super) fn with(mut self, number: u64) -> Self {
        let mut power = 1;
        for sum in &mut self.0 {
            *sum += power;
            power *= u128::from(number);
        }
        self
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] + other.0[at]))
    }

    pub(super) fn of(state: Option<&Payload>) -> Result<Self, Failure> {
        let Some(state) = state else { return Ok(Self::default()) };
        let text = std::str::from_utf8(state.as_bytes())?;
        let sums: Vec<u128> = text.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        Ok(Self(sums.try_into().map_err(|sums| format!("{sums:?} are not four sums"))?))
    }
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([zero, one, two, three]) = self;
        write!(f, "{zero} {one} {two} {three}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[u64]) -> Sums {
        numbers.iter().fold(Sums::default(), |sums, number| sums.with(*number))
    }

    #[test]
    fn a_missing_or_repeated_number_changes_the_sums() {
        let whole = of(&[0, 1, 2, 3, 4]);
        assert_eq!(of(&[4, 2, 0]).and(of(&[3, 1])), whole);
        for other in [&[0, 1, 2, 3][..], &[0, 1, 2, 3, 4, 4], &[0, 1, 1, 4, 4], &[0, 0, 3, 3, 4]] {
            assert_ne!(of(other), whole, "{other:?}");
        }
        let stored = Payload::try_from(whole.to_string()).unwrap();
        assert_eq!(Sums::of(Some(&stored)).unwrap(), whole);
        assert_eq!(Sums::of(None).unwrap(), Sums::default());
    }
}
