//! Takes, with and without a transaction.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row, query};
use storagebox_core::{Attempt, ClaimId, Held, Hold, HoldState, Item, Namespace, Result, Taken};

use super::{claim, end_of};
use crate::client::{Step, VERSION};
use crate::error::{read, unreadable};

const TAKE: &str = include_str!("../../sql/item_bank/take.sql");
const TAKE_LAPSED: &str = include_str!("../../sql/item_bank/take_lapsed.sql");
const TAKE_NEW: &str = include_str!("../../sql/item_bank/take_new.sql");

pub(super) struct Take {
    pub(super) bank: Namespace,
    pub(super) attempt: Attempt,
    pub(super) claim: ClaimId,
    pub(super) hold: Hold,
}

impl Take {
    /// Makes the take without a transaction: for a new claim by one statement that takes an item, and for a known claim
    /// by a read. Returns `None` if the take needs a transaction.
    pub(super) async fn by_itself(&self, step: &mut Step<'_>) -> Result<Option<Taken>> {
        let ask = query(TAKE_NEW).bind(self.bank.as_str()).bind(VERSION);
        let ask = ask.bind(self.claim.as_str()).bind(end_of(self.hold, step.now));
        match step.row(ask).await? {
            Some(row) => self.taken(&row).map(Some),
            None if !step.is_open => Ok(None),
            None => claim::seen(step, &self.bank, &self.claim).await,
        }
    }

    /// Makes the take within a transaction. Other processes cannot write meanwhile, so a bank without a free item is
    /// empty (IB-4).
    pub(super) async fn make(&self, step: &mut Step<'_>) -> Result<Taken> {
        let (claim, until) = (self.claim.as_str(), end_of(self.hold, step.now));
        let call = match claim::answered(step, &self.claim, self.attempt).await? {
            Ok(answer) => return Ok(answer),
            Err(call) => call,
        };
        if let Some(row) = step.row(step.ask(TAKE).bind(claim).bind(until)).await? {
            return self.taken(&row);
        }
        let lapsed = step.ask(TAKE_LAPSED).bind(step.now.0).bind(claim).bind(until);
        match step.row(lapsed).await? {
            Some(row) => self.taken(&row),
            None => call.refused(step, Taken::Empty).await,
        }
    }

    fn taken(&self, row: &SqliteRow) -> Result<Taken> {
        let item: String = read("an item", row.try_get("item"))?;
        let item = Item::new(item).map_err(|_| unreadable("an item"))?;
        let hold = match self.hold {
            Hold::Forever => HoldState::Forever,
            Hold::For(duration) => HoldState::Remaining(duration),
        };
        Ok(Taken::New(Held { item, hold }))
    }
}
