//! Shows whether a transaction was committed, after the reply to its COMMIT was lost.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::contract::dedup_repo::{DedupRepo, Recorded};
use crate::values::clock::{Clock, SystemClock};
use crate::values::error::{Error, ErrorKind, Result};
use crate::values::ids::{Ids, RandomIds};
use crate::values::time::Retention;
use crate::values::value::{DedupId, Namespace, OpId, Payload};

const NAMESPACE: &str = "storagebox.receipts";
const KEPT: Duration = Duration::from_hours(7 * 24);
/// The maximum age of a receipt that can be settled. The margin to [`KEPT`] allows for clocks that differ.
const USABLE: Duration = KEPT.checked_div(2).expect("2 is not 0");

/// The value of a record that the transaction of the receipt has written.
const WRITTEN: &[u8] = b"written";
/// The value of a record that `settle` has written, so that the transaction can never be committed.
const FENCED: &[u8] = b"fenced";

/// The proof that a transaction was committed, to be shown to [`settle`].
///
/// Its text form keeps it for another process, for example in a log. It holds the time at which it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    made: Duration,
    id: String,
}

/// What [`settle`] finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitState {
    /// The transaction was committed.
    Committed,
    /// The transaction was not committed and never will be.
    NotCommitted,
}

impl Receipt {
    /// Returns the name of the records that hold all receipts of a store.
    ///
    /// # Errors
    ///
    /// None: the name is valid.
    pub fn namespace() -> Result<Namespace> {
        NAMESPACE.parse()
    }

    pub(super) async fn write(records: &impl DedupRepo) -> Result<Self> {
        let receipt = Self { made: Duration::from_secs(SystemClock.now().as_secs()), id: RandomIds.fresh() };
        match receipt.record(records, WRITTEN, "write").await? {
            Recorded::New(_) => Ok(receipt),
            _ => Err(Error::corrupt("a new receipt", "another record has its random id")),
        }
    }

    async fn record(&self, records: &(impl DedupRepo + ?Sized), value: &'static [u8], op: &str) -> Result<Recorded> {
        let (id, op) = (DedupId::new(self.id.as_str())?, OpId::new(op)?);
        records.record(&id, &Payload::new(value)?, &op, Retention::For(KEPT)).await
    }

    fn check_age(&self) -> Result<()> {
        match SystemClock.now().saturating_sub(self.made) > USABLE {
            true => Err(Error::new(
                ErrorKind::Unsupported,
                format!("the receipt is older than {} hours and may be forgotten", USABLE.as_secs() / 3600),
            )),
            false => Ok(()),
        }
    }
}

/// Returns whether the transaction of the receipt was committed. `records` holds the receipts of its store.
///
/// # Guarantees
///
/// - J-5: the answer is exact, and stays the same. `NotCommitted` fences the transaction: it can never commit any more,
///   also if the server still works on it.
///
/// # Cancel safety
///
/// Safe: call again.
///
/// # Errors
///
/// Returns `Contention` while the transaction is still open: ask again. Returns `Unsupported` for a receipt of more
/// than 84 hours ago, which the store may have forgotten.
pub async fn settle(records: &(impl DedupRepo + ?Sized), receipt: &Receipt) -> Result<CommitState> {
    receipt.check_age()?;
    match receipt.record(records, FENCED, "settle").await? {
        Recorded::New(_) | Recorded::Again(_) => Ok(CommitState::NotCommitted),
        Recorded::Existing(entry) if entry.value.as_bytes() == WRITTEN => Ok(CommitState::Committed),
        _ => Err(Error::corrupt("a receipt", "its record has a value that this library does not write")),
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.made.as_secs(), self.id)
    }
}

impl FromStr for Receipt {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = || Error::invalid("the receipt", "was not written by this library");
        let (made, id) = text.split_once('.').ok_or_else(bad)?;
        let made = Duration::from_secs(made.parse().map_err(|_| bad())?);
        match id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            true => Ok(Self { made, id: id.to_owned() }),
            false => Err(bad()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_read_back_from_its_text() {
        let receipt = Receipt { made: Duration::from_secs(1_767_225_600), id: RandomIds.fresh() };
        assert_eq!(receipt.to_string().parse::<Receipt>().unwrap(), receipt);
        for bad in ["", "7", "7.", "x.00000000000000000000000000000000", "7.0000000000000000000000000000000'"] {
            assert_eq!(bad.parse::<Receipt>().unwrap_err().kind(), ErrorKind::InvalidInput, "{bad}");
        }
    }

    #[test]
    fn a_receipt_that_the_store_may_have_forgotten_is_refused() {
        let aged = |age| Receipt { made: SystemClock.now().saturating_sub(age), id: RandomIds.fresh() }.check_age();
        assert!(aged(Duration::ZERO).is_ok() && aged(USABLE - Duration::from_mins(1)).is_ok());
        assert_eq!(aged(USABLE + Duration::from_mins(1)).unwrap_err().kind(), ErrorKind::Unsupported);
    }
}
