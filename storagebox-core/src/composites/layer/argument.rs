//! Copies of arguments, for a call that outlives its caller.

use std::borrow::Borrow;
use std::time::Duration;

use crate::contract::dedup_repo::Version;
use crate::values::attempt::Attempt;
use crate::values::time::{Hold, Retention};

/// An argument of a method of a part: a reference or a small value.
pub(super) trait Argument<'a>: Copy {
    type Owned: Send + Sync + 'static;

    fn own(self) -> Self::Owned;

    fn lend(owned: &'a Self::Owned) -> Self;

    /// Returns the argument for the next attempt.
    fn after_lost(self, _is_any_lost: bool) -> Self {
        self
    }
}

impl Argument<'_> for Attempt {
    type Owned = Self;

    fn own(self) -> Self {
        self
    }

    fn lend(owned: &Self) -> Self {
        *owned
    }

    fn after_lost(self, is_any_lost: bool) -> Self {
        Self::after_lost(self, is_any_lost)
    }
}

impl<'a, T: ToOwned<Owned: Send + Sync + 'static> + ?Sized> Argument<'a> for &'a T {
    type Owned = T::Owned;

    fn own(self) -> T::Owned {
        self.to_owned()
    }

    fn lend(owned: &'a T::Owned) -> Self {
        owned.borrow()
    }
}

impl<'a, T: Clone + Send + Sync + 'static> Argument<'a> for Option<&'a T> {
    type Owned = Option<T>;

    fn own(self) -> Option<T> {
        self.cloned()
    }

    fn lend(owned: &'a Option<T>) -> Self {
        owned.as_ref()
    }
}

macro_rules! small {
    ($($value:ty)*) => {$(
        impl Argument<'_> for $value {
            type Owned = Self;

            fn own(self) -> Self {
                self
            }

            fn lend(owned: &Self) -> Self {
                *owned
            }
        }
    )*};
}

small! { Hold Retention Version Duration usize }
