//! Identifies the parts.

use super::Part;
use crate::counter::Counter;
use crate::dedup_repo::DedupRepo;
use crate::item_bank::{BankAdmin, ItemBank};
use crate::lease_repo::LeaseRepo;
use crate::ledger::Ledger;
use crate::ordered_store::OrderedStore;
use crate::token_store::TokenStore;

/// The trait objects that a [`LayeredPart`](super::LayeredPart) can wrap: one per part.
pub trait OnePart: Send + Sync + 'static {
    /// Returns which part this is.
    fn part(&self) -> Part;

    /// Returns whether the part recognises a repeated change.
    fn recognises_repeats(&self) -> bool {
        true
    }
}

macro_rules! parts {
    ($($object:ident: $part:ident $(, $promise:ident)?;)*) => {$(
        impl OnePart for dyn $object {
            fn part(&self) -> Part {
                Part::$part
            }

            $(fn recognises_repeats(&self) -> bool {
                self.$promise().recognises_repeats()
            })?
        }
    )*};
}

parts! {
    ItemBank: Bank;
    BankAdmin: Bank;
    DedupRepo: Records;
    LeaseRepo: Leases;
    TokenStore: Tokens;
    Counter: Counters, promise;
    Ledger: Ledger, promise;
    OrderedStore: OrderedValues;
}
