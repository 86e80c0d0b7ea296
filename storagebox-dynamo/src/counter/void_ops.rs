//! The void calls of an operation that was refused, and the refusal (ER-5).

use storagebox_core::backend::rules::VoidCalls;
use storagebox_core::{Attempt, Counted, Result};

use crate::clock::Millis;

/// The refusals, in the order of their stored numbers. The order does not change.
const REFUSALS: [Counted; 3] = [Counted::OutOfBounds, Counted::Overflow, Counted::Full];

pub(super) fn number_of(refusal: Counted) -> u8 {
    REFUSALS.iter().position(|one| *one == refusal).map_or(u8::MAX, |place| place as u8)
}

pub(super) fn refusal_of(number: u8) -> Option<Counted> {
    REFUSALS.get(usize::from(number)).copied()
}

/// An operation that was refused, and which of its calls are void.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VoidOp {
    pub(super) calls: VoidCalls,
    pub(super) refusal: Counted,
    /// When the last of the calls became void.
    pub(super) at: Millis,
}

impl VoidOp {
    /// Adds the call of a refused attempt to the void calls of its operation. Returns `None` if nothing has to be
    /// stored.
    ///
    /// # Errors
    ///
    /// Returns `OutcomeUnknown` if there is no room for one more call.
    pub(super) fn with(known: Option<&Self>, attempt: Attempt, refusal: Counted, at: Millis) -> Result<Option<Self>> {
        let mut calls = known.map_or_else(VoidCalls::default, |known| known.calls.clone());
        Ok(calls.refuse(attempt)?.then_some(Self { calls, refusal, at }))
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        // The first two bytes of a time are 0 for 9,000 years.
        let mut bytes = self.at.0.to_be_bytes()[2..].to_vec();
        bytes.push(number_of(self.refusal));
        bytes.extend(self.calls.numbers().iter().flat_map(|number| number.to_be_bytes()));
        bytes
    }

    /// Reads the stored bytes; `None` if the bytes are incomplete.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (at, rest) = bytes.split_first_chunk::<6>()?;
        let (refusal, calls) = rest.split_first()?;
        let at = Millis(at.iter().fold(0, |at, byte| at << 8 | i64::from(*byte)));
        let (calls, []) = calls.as_chunks() else { return None };
        let calls = calls.iter().map(|number| i64::from_be_bytes(*number)).collect();
        Some(Self { calls, refusal: refusal_of(*refusal)?, at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(calls: usize) -> VoidOp {
        let calls = (0..calls).map(|number| i64::MAX - number as i64).collect();
        VoidOp { calls, refusal: Counted::Full, at: Millis(1_700_000_000_000) }
    }

    #[test]
    fn void_calls_are_read_as_they_were_written() {
        for count in [1, Attempt::MAX_VOID] {
            let bytes = refused(count).bytes();
            assert_eq!(VoidOp::read(&bytes), Some(refused(count)));
            assert_eq!(VoidOp::read(&bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(VoidOp::read(&[]), None);
    }

    #[test]
    fn a_void_call_that_does_not_fit_returns_an_error() {
        let full = refused(Attempt::MAX_VOID);
        let with = |attempt| VoidOp::with(Some(&full), attempt, Counted::Overflow, Millis(0));
        assert!(with(Attempt::of_call(0).again()).is_err());
        assert_eq!(with(Attempt::of_call(0)).unwrap(), None);
        assert_eq!(with(Attempt::of_call(i64::MAX).again()).unwrap(), None);
    }

    /// Stored rows contain these numbers, so every version must use the same number for a refusal.
    #[test]
    fn the_number_of_a_refusal_never_changes() {
        assert_eq!([Counted::OutOfBounds, Counted::Overflow, Counted::Full].map(number_of), [0, 1, 2]);
        assert_eq!(refusal_of(3), None);
    }
}
