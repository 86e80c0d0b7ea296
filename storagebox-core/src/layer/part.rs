//! Identifies the parts.

use std::time::Duration;

use super::Part;
use crate::counter::Counter;
use crate::dedup_repo::DedupRepo;
use crate::entity_ledger::EntityLedger;
use crate::item_bank::ItemBank;
use crate::lease_repo::LeaseRepo;
use crate::ledger::Ledger;
use crate::ordered_store::OrderedStore;
use crate::token_store::TokenStore;

/// The trait objects that a [`LayeredPart`](super::LayeredPart) can wrap: one per part.
pub trait OnePart: Send + Sync + 'static {
    /// Returns which part this is.
    fn part(&self) -> Part;

    /// Returns how long the part recognises a repeated change; `None` if it does not.
    fn recognises_repeats(&self) -> Option<Duration> {
        Some(Duration::MAX)
    }
}

macro_rules! parts {
    ($($object:ident: $part:ident $(, $promise:ident)?;)*) => {$(
        impl OnePart for dyn $object {
            fn part(&self) -> Part {
                Part::$part
            }

            $(fn recognises_repeats(&self) -> Option<Duration> {
                self.$promise().remembers()
            })?
        }
    )*};
}

parts! {
    ItemBank: Bank;
    DedupRepo: Records;
    LeaseRepo: Leases;
    TokenStore: Tokens;
    EntityLedger: Entities;
    Counter: Counters, promise;
    Ledger: Ledger, promise;
    OrderedStore: OrderedValues;
}
