//! The arguments of a call. A layer may read them, and may ask for copies that outlive the caller.

use std::any::Any;
use std::borrow::Borrow;
use std::fmt;
use std::time::Duration;

use crate::dedup_repo::Version;
use crate::time::{Hold, Retention};

/// An argument as the traits of the parts take it: borrowed, or small.
pub(super) trait Argument<'a>: Copy {
    /// The same argument as an owned value, which outlives the caller.
    type Owned: Send + Sync + 'static;

    fn own(self) -> Self::Owned;

    fn lend(owned: &'a Self::Owned) -> Self;
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

/// Stores the argument in `place`, if `place` has the argument's type.
pub(super) fn offer<'a, A: Argument<'a>>(argument: A, place: &mut dyn Any) {
    if let Some(place) = place.downcast_mut::<Option<A::Owned>>() {
        *place = Some(argument.own());
    }
}

/// The arguments of a call. No two have the same type.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a>(pub(super) &'a (dyn Fn(&mut dyn Any) + Send + Sync));

impl Arguments<'_> {
    pub(super) fn find<T: 'static>(self) -> Option<T> {
        let mut place = None::<T>;
        (self.0)(&mut place);
        place
    }
}

/// Shows no argument: arguments are ids of people and stored values.
impl fmt::Debug for Arguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}
