//! Outcomes that decide what a lost attempt can still do.

use crate::contract::counter::{Cancelled, Counted};
use crate::contract::dedup_repo::{Forgotten, Recorded, Replaced};
use crate::contract::entity_ledger::{Chosen, Committed, Registered};
use crate::contract::item_bank::{Added, Confirmed, Extended, Released, Retired, Taken};
use crate::contract::lease_repo::{Aborted, Begun, Completed, LeaseExtended};
use crate::contract::ordered_store::{Reset, Written};
use crate::contract::token_store::{Consumed, Created, Discarded};

/// Says whether an outcome also decides what a lost earlier attempt of the same operation can still do.
///
/// `New` and `Again` do: the operation has had its one effect. `Empty` does not: the lost attempt may still arrive and
/// take an item that becomes free in the meantime (ER-4).
pub trait Settles {
    /// Returns `false` if an earlier attempt may still take effect in spite of this outcome.
    fn settles(&self) -> bool;
}

macro_rules! settles {
    ($($outcome:ty: $open:pat,)*) => {$(
        impl Settles for $outcome {
            fn settles(&self) -> bool {
                !matches!(self, $open)
            }
        }
    )*};
}

macro_rules! always_settles {
    ($($outcome:ty)*) => {$(
        impl Settles for $outcome {
            fn settles(&self) -> bool {
                true
            }
        }
    )*};
}

settles! {
    Taken: Taken::Empty,
    Extended: Extended::Unknown,
    Confirmed: Confirmed::Unknown,
    Retired: Retired::Holding,
    Recorded: Recorded::InFlight { .. },
    Begun: Begun::InFlight { .. } | Begun::Mismatch,
    Counted: Counted::OutOfBounds | Counted::Overflow | Counted::Full,
    Cancelled: Cancelled::Full,
}

// The other outcomes name a state that only moves forward: versions and fences never go back. A stamp goes back only by
// `reset`, whose caller knows that an older write in progress may then be applied.
always_settles! {
    Added Released Replaced Forgotten Completed Aborted LeaseExtended Created Consumed Discarded Written Reset
    Committed Registered Chosen
}

/// Whether an entry was removed. It no longer exists in either case.
impl Settles for bool {
    fn settles(&self) -> bool {
        true
    }
}

/// An answer that always settles: the result of a read, or a state that only moves forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled<T>(pub T);

impl<T> Settles for Settled<T> {
    fn settles(&self) -> bool {
        true
    }
}
