//! What `{:?}` shows of an opened part: its trait. A part holds items and connections, and shows neither.

use std::fmt;

use crate::counter::Counter;
use crate::dedup_repo::DedupRepo;
use crate::item_bank::{BankAdmin, ItemBank};
use crate::lease_repo::LeaseRepo;
use crate::ledger::Ledger;
use crate::ordered_store::OrderedStore;
use crate::token_store::TokenStore;

macro_rules! named {
    ($($part:ident)*) => {$(
        impl fmt::Debug for dyn $part + '_ {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($part))
            }
        }
    )*};
}

named! { ItemBank BankAdmin DedupRepo LeaseRepo TokenStore Counter Ledger OrderedStore }
