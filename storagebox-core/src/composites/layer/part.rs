//! Identifies the parts.

use std::fmt;
use std::time::Duration;

use crate::contract::counter::Counter;
use crate::contract::dedup_repo::DedupRepo;
use crate::contract::entity_ledger::EntityLedger;
use crate::contract::item_bank::ItemBank;
use crate::contract::lease_repo::LeaseRepo;
use crate::contract::ledger::Ledger;
use crate::contract::ordered_store::OrderedStore;
use crate::contract::token_store::TokenStore;

/// A part of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// The backend as a whole.
    Store,
    /// [`ItemBank`](crate::ItemBank).
    Bank,
    /// [`DedupRepo`](crate::DedupRepo).
    Records,
    /// [`LeaseRepo`](crate::LeaseRepo).
    Leases,
    /// [`TokenStore`](crate::TokenStore).
    Tokens,
    /// [`EntityLedger`](crate::EntityLedger).
    Entities,
    /// [`Counter`](crate::Counter).
    Counters,
    /// [`Ledger`](crate::Ledger).
    Ledger,
    /// [`OrderedStore`](crate::OrderedStore).
    OrderedValues,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Store => "store",
            Self::Bank => "bank",
            Self::Records => "records",
            Self::Leases => "leases",
            Self::Tokens => "tokens",
            Self::Entities => "entities",
            Self::Counters => "counters",
            Self::Ledger => "ledger",
            Self::OrderedValues => "ordered values",
        })
    }
}

/// The trait objects that a [`LayeredPart`](super::LayeredPart) can wrap: one per part.
pub trait OnePart: Send + Sync + 'static {
    /// Returns which part this is.
    fn part(&self) -> Part;

    /// Returns how long the part recognises a repeated change, or `None` if the part recognises none.
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
