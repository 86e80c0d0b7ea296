//! Which call an attempt belongs to, and whether it repeats an attempt that was lost.

use std::cell::RefCell;
use std::hash::{BuildHasher, Hasher, RandomState};

use fastrand::Rng;

use crate::values::error::{Error, Result};

/// One attempt of a call that can be refused.
///
/// A call that is retried is several attempts. If the reply of an attempt was lost, that attempt may still arrive, also
/// after a later attempt was refused. So a refusal of a [repeated](Self::is_repeated) attempt also makes the earlier
/// attempts void: in the same atomic step, the store writes down the number of their [call](Self::call). An attempt
/// that arrives later and finds its call void changes nothing. Another call, also one with the same operation id, has
/// another number and is not affected.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_core::{Attempt, Backend, Hold, Item, ItemBank, Taken};
/// use storagebox_memory::MemoryStore;
///
/// let bank = MemoryStore::new().item_bank(&"vouchers".parse()?)?;
/// let (lost, claim) = (Attempt::first(), "ada@example.com".parse()?);
///
/// // The first attempt is lost on its way, so the call is repeated, and refused.
/// assert_eq!(bank.attempt_take(lost.again(), &claim, Hold::Forever).await?, Taken::Empty);
///
/// // The lost attempt arrives when there is an item. It takes nothing; another call does.
/// bank.add(&[Item::new("SAVE-10")?]).await?;
/// assert_eq!(bank.attempt_take(lost, &claim, Hold::Forever).await?, Taken::Empty);
/// assert!(matches!(bank.take(&claim, Hold::Forever).await?, Taken::New(_)));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    call: i64,
    is_repeated: bool,
}

impl Attempt {
    /// The largest number of calls of one operation that a store keeps void at a time. A refusal that would void one
    /// more call is `OutcomeUnknown`.
    pub const MAX_VOID: usize = 16;

    /// Creates the first attempt of a new call, which has a random number.
    pub fn first() -> Self {
        Self::of_call(fresh_number())
    }

    /// Creates the first attempt of the call with this number.
    pub fn of_call(call: i64) -> Self {
        Self { call, is_repeated: false }
    }

    /// Returns an attempt of the same call that follows one whose outcome is unknown.
    #[must_use]
    pub fn again(self) -> Self {
        Self { is_repeated: true, ..self }
    }

    /// Returns [`again`](Self::again) if an earlier attempt was lost, and otherwise the attempt as it is.
    #[must_use]
    pub fn after_lost(self, is_any_lost: bool) -> Self {
        Self { is_repeated: self.is_repeated || is_any_lost, ..self }
    }

    /// Returns the number of the call, which is the same for all its attempts.
    pub fn call(self) -> i64 {
        self.call
    }

    /// Returns whether the outcome of an earlier attempt is unknown, so that a refusal must make it void.
    pub fn is_repeated(self) -> bool {
        self.is_repeated
    }

    /// Returns a refusal that leaves earlier attempts as they are.
    ///
    /// # Errors
    ///
    /// `OutcomeUnknown` if there is an earlier attempt, which may still take effect.
    pub fn refused<T>(self, refusal: T) -> Result<T> {
        if self.is_repeated { Err(open()) } else { Ok(refusal) }
    }
}

/// Returns a number that no other call of this operation has.
fn fresh_number() -> i64 {
    thread_local! {
        // Not the generator of the process, because a program may seed it: its next run would repeat the numbers, and
        // calls with the numbers of void calls take no effect.
        static NUMBERS: RefCell<Rng> = RefCell::new(Rng::with_seed(from_system()));
    }
    NUMBERS.try_with(|numbers| numbers.borrow_mut().u64(..)).unwrap_or_else(|_| from_system()).cast_signed()
}

/// Returns a number from the random keys that the standard library gets from the system.
fn from_system() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Returns the error of a call that is refused because an earlier attempt may still take effect.
pub(crate) fn open() -> Error {
    Error::unknown("the answer of an earlier attempt was lost, and that attempt may still take effect")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A void call of an earlier run would otherwise refuse calls of the next run.
    #[test]
    fn calls_of_a_program_that_seeds_its_generator_have_different_numbers() {
        let [one, other] = [(), ()].map(|()| {
            fastrand::seed(42);
            Attempt::first().call()
        });
        assert_ne!(one, other);
    }
}
