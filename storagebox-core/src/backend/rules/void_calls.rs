//! The calls of one operation that are void (ER-5).

use std::fmt;
use std::str::FromStr;

use crate::values::attempt::{Attempt, open};
use crate::values::error::{Error, Result};

/// The numbers of the calls of one operation whose attempts change nothing any more.
///
/// For stores that keep them as a value. The text form is the numbers, with a space between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VoidCalls(Vec<i64>);

impl VoidCalls {
    /// Returns whether the call of this attempt is void.
    pub fn contain(&self, attempt: Attempt) -> bool {
        self.0.contains(&attempt.call())
    }

    /// Returns whether no call is void.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the numbers of the calls.
    pub fn numbers(&self) -> &[i64] {
        &self.0
    }

    /// Makes the call of a refused attempt void, if the attempt is repeated. Returns whether that added the call.
    ///
    /// # Errors
    ///
    /// `OutcomeUnknown` if [`Attempt::MAX_VOID`] other calls are void already.
    pub fn refuse(&mut self, attempt: Attempt) -> Result<bool> {
        if !attempt.is_repeated() || self.contain(attempt) {
            return Ok(false);
        }
        if self.0.len() >= Attempt::MAX_VOID {
            return Err(open());
        }
        self.0.push(attempt.call());
        Ok(true)
    }
}

impl FromIterator<i64> for VoidCalls {
    fn from_iter<I: IntoIterator<Item = i64>>(numbers: I) -> Self {
        Self(numbers.into_iter().collect())
    }
}

impl fmt::Display for VoidCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, number) in self.0.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{number}")?;
        }
        Ok(())
    }
}

impl FromStr for VoidCalls {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let numbers = text.split_ascii_whitespace().map(str::parse::<i64>).collect::<Result<_, _>>();
        numbers.map(Self).map_err(|_| Error::corrupt("the void calls of an operation", "they are not numbers"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_repeated_attempt_makes_its_call_void() {
        let (mut calls, first) = (VoidCalls::default(), Attempt::of_call(7));
        assert!(!calls.refuse(first).unwrap() && !calls.contain(first));
        assert!(calls.refuse(first.again()).unwrap() && calls.contain(first));
        assert!(!calls.refuse(first.again()).unwrap(), "the call is void already");
        assert!(!calls.contain(Attempt::of_call(8)));
    }

    #[test]
    fn refused_call_beyond_the_maximum_of_void_calls_is_an_error() {
        let mut calls: VoidCalls = (0..Attempt::MAX_VOID as i64).collect();
        assert!(calls.refuse(Attempt::of_call(-1).again()).is_err());
        assert!(calls.refuse(Attempt::of_call(-1)).is_ok_and(|added| !added));
        assert!(calls.refuse(Attempt::of_call(0).again()).is_ok_and(|added| !added));
    }

    #[test]
    fn void_calls_are_parsed_from_their_text() {
        let calls: VoidCalls = [i64::MIN, 0, i64::MAX].into_iter().collect();
        assert_eq!(calls.to_string().parse::<VoidCalls>().unwrap(), calls);
        assert!("".parse::<VoidCalls>().unwrap().is_empty());
        assert!("1 x".parse::<VoidCalls>().is_err());
    }
}
