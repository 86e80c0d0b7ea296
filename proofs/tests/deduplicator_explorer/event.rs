//! The events that a scheduler can choose from.

use std::fmt;
use std::str::FromStr;

/// An event, with the number of the worker, the late request or the refill.
///
/// A crash or a failure leaves two copies of the request in flight. Each copy may be applied at any later moment, or
/// never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The worker's request is applied, and its reply arrives.
    Deliver(usize),
    /// The worker's future is dropped.
    Crash(usize),
    /// The worker gets an error with an unknown outcome.
    Fail(usize),
    /// A copy of the worker's request becomes a late request. The worker still waits for the original request.
    Double(usize),
    /// A late request is applied. No worker waits for its reply.
    Land(usize),
    /// An item is added to its bank.
    Refill(usize),
}

impl Event {
    fn parts(self) -> (char, usize) {
        match self {
            Self::Deliver(worker) => ('d', worker),
            Self::Crash(worker) => ('c', worker),
            Self::Fail(worker) => ('f', worker),
            Self::Double(worker) => ('2', worker),
            Self::Land(copy) => ('l', copy),
            Self::Refill(item) => ('r', item),
        }
    }
}

/// Shows the event as a letter and a number, such as `d0`.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (letter, number) = self.parts();
        write!(f, "{letter}{number}")
    }
}

impl FromStr for Event {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (letter, number) = text.split_at(1);
        let number = number.parse()?;
        Ok(match letter {
            "d" => Self::Deliver(number),
            "c" => Self::Crash(number),
            "f" => Self::Fail(number),
            "2" => Self::Double(number),
            "l" => Self::Land(number),
            "r" => Self::Refill(number),
            other => panic!("no event {other}"),
        })
    }
}
