//! The item bank: each call is one script (`lua/item_bank`).

mod answers;

use std::collections::HashSet;

use storagebox_core::{
    Added, Attempt, ClaimId, ClaimState, Confirmed, Counts, Cursor, Extended, Hold, Item, ItemBank, ItemState,
    ListedItem, Page, Released, Restored, Result, Retired, Taken, Withdrawn, async_trait,
};
use tracing::instrument;

use crate::client::{Answer, OpenNamespace, ScriptCall, hash, micros};
use crate::page;
use crate::script::{Script, script};

/// Builds a script on a bank. The brackets contain further Lua libraries.
macro_rules! of_bank {
    ($name:literal, $head:ident, [$($lib:literal),*], $file:literal) => {
        $crate::script::script!($name, $head, timed, ["number", "buckets", "queue", "bank" $(, $lib)*], $file)
    };
}

pub(crate) use of_bank;

static ADD: Script = of_bank!("bank_add", CHANGES, [], "item_bank/add");
static TAKE: Script = script!(
    "bank_take",
    CHANGES,
    timed,
    ["number", "at_once", "buckets", "queue", "front", "bank", "claims", "void", "void_claims"],
    "item_bank/take"
);
static EXTEND: Script = of_bank!("bank_extend", CHANGES, ["claims", "void", "void_claims"], "item_bank/extend");
static CONFIRM: Script = of_bank!("bank_confirm", CHANGES, ["claims", "void", "void_claims"], "item_bank/confirm");
static RELEASE: Script = of_bank!("bank_release", CHANGES, ["claims"], "item_bank/release");
static GET: Script = of_bank!("bank_get", READS, ["claims"], "item_bank/get");
static COUNTS: Script = of_bank!("bank_counts", READS, [], "item_bank/counts");
static RETIRE: Script = of_bank!("bank_retire", CHANGES, ["claims", "void", "void_claims"], "item_bank/retire");
static HOLDER: Script = of_bank!("bank_holder", READS, ["claims", "shown_item"], "item_bank/holder");
static LIST: Script = of_bank!("bank_list", READS, ["claims", "shown_item"], "item_bank/list");
static WITHDRAW: Script = of_bank!("bank_withdraw", CHANGES, ["claims"], "item_bank/withdraw");
static RESTORE: Script = of_bank!("bank_restore", CHANGES, ["claims"], "item_bank/restore");
pub(crate) static MAINTAIN: Script = script!(
    "bank_maintain",
    CHANGES,
    timed,
    ["number", "buckets", "queue", "front", "bank", "claims"],
    "item_bank/maintain"
);

/// The most items in one call of a script, because a script blocks all other calls.
const BATCH: usize = 1_000;

#[derive(Debug)]
pub(crate) struct RedisBank(pub(crate) OpenNamespace);

impl RedisBank {
    /// Creates a call whose first arguments are the claim and the store's memory.
    async fn about<'a>(&'a self, script: &'static Script, claim: &'a ClaimId) -> Result<ScriptCall<'a>> {
        Ok(self.0.call(script).await?.with(claim.as_str()).with(self.0.client().memory()))
    }

    /// Runs a script that refuses no attempt (ER-5) on one claim.
    async fn ask(&self, script: &'static Script, claim: &ClaimId) -> Result<Answer> {
        let call = self.about(script, claim).await?;
        self.0.client().answer(&call).await
    }

    /// Runs the script on one batch of items after another, and returns the answers. Each batch is one atomic step.
    async fn in_batches(
        &self,
        operation: &'static str,
        script: &'static Script,
        items: &[&str],
    ) -> Result<Vec<Answer>> {
        let mut answers = Vec::new();
        for batch in items.chunks(BATCH) {
            let attempt = || async {
                let call = self.0.call(script).await?.with_all(batch);
                self.0.client().answer(&call.in_bulk()).await
            };
            match self.0.client().settle(operation, attempt).await {
                Ok(answer) => answers.push(answer),
                Err(error) if answers.is_empty() => return Err(error),
                Err(error) => return Err(error.after_unresolved()),
            }
        }
        Ok(answers)
    }
}

fn distinct(items: &[Item]) -> Vec<&str> {
    let mut seen = HashSet::with_capacity(items.len());
    items.iter().map(Item::as_str).filter(|item| seen.insert(*item)).collect()
}

/// Converts a hold to microseconds; `None` means for ever.
fn micros_of(hold: Hold) -> Option<u64> {
    match hold {
        Hold::Forever => None,
        Hold::For(duration) => Some(micros(duration)),
    }
}

#[async_trait]
impl ItemBank for RedisBank {
    #[instrument(level = "trace", skip_all)]
    async fn add(&self, items: &[Item]) -> Result<Added> {
        let items = distinct(items);
        let mut report = Added::default();
        for answer in self.in_batches("add", &ADD, &items).await? {
            report.added += answer.count(0)?;
        }
        report.already_present = items.len() as u64 - report.added;
        Ok(report)
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_take(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        let hold = hold.checked()?;
        let take = |attempt: Attempt| async move {
            let call = self.0.call(&TAKE).await?.with(claim.as_str()).with(hash(claim));
            let call = call.with(micros_of(hold)).with(self.0.client().memory());
            answers::taken(&self.0.client().answer_attempt(call, attempt).await?, hold)
        };
        self.0.client().settle_attempts("take", attempt, take).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_extend(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        let hold = micros_of(hold.checked()?);
        let extend = |attempt: Attempt| async move {
            let call = self.0.call(&EXTEND).await?;
            let call = call.with(claim.as_str()).with(hold).with(self.0.client().memory());
            answers::extended(&self.0.client().answer_attempt(call, attempt).await?)
        };
        self.0.client().settle_attempts("extend", attempt, extend).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_confirm(&self, attempt: Attempt, claim: &ClaimId) -> Result<Confirmed> {
        let confirm = |attempt: Attempt| async move {
            let call = self.about(&CONFIRM, claim).await?;
            answers::confirmed(&self.0.client().answer_attempt(call, attempt).await?)
        };
        self.0.client().settle_attempts("confirm", attempt, confirm).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn release(&self, claim: &ClaimId) -> Result<Released> {
        let attempt = || async move { answers::released(&self.ask(&RELEASE, claim).await?) };
        self.0.client().settle("release", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn get(&self, claim: &ClaimId) -> Result<ClaimState> {
        let attempt = || async move { answers::claim_state(&self.ask(&GET, claim).await?) };
        self.0.client().settle("get", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn counts(&self) -> Result<Counts> {
        let attempt = || async move {
            let call = self.0.call(&COUNTS).await?;
            answers::counts(&self.0.client().answer(&call).await?)
        };
        self.0.client().settle("counts", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_retire(&self, attempt: Attempt, claim: &ClaimId) -> Result<Retired> {
        let retire = |attempt: Attempt| async move {
            let call = self.about(&RETIRE, claim).await?;
            answers::retired(&self.0.client().answer_attempt(call, attempt).await?)
        };
        self.0.client().settle_attempts("retire", attempt, retire).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn holder(&self, item: &Item) -> Result<ItemState> {
        let attempt = || async move {
            let call = self.0.call(&HOLDER).await?.with(item.as_str());
            answers::item_state(&self.0.client().answer(&call).await?, 0)
        };
        self.0.client().settle("holder", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        let (mut from, limit) = (answers::Position::of(cursor)?, page::limit(limit)?);
        loop {
            let attempt = || async {
                let call = self.0.call(&LIST).await?.with(from.bucket).with(limit);
                self.0.client().answer(&call.in_bulk()).await
            };
            let answer = self.0.client().settle("list", attempt).await?;
            let (entries, next) = answers::listed(&answer, &from, limit)?;
            match next {
                Some(next) if entries.is_empty() => from = next,
                next => return Ok(Page { entries, next: next.map(|next| next.cursor()) }),
            }
        }
    }

    #[instrument(level = "trace", skip_all)]
    async fn withdraw(&self, items: &[Item]) -> Result<Withdrawn> {
        let mut report = Withdrawn::default();
        for answer in self.in_batches("withdraw", &WITHDRAW, &distinct(items)).await? {
            report.withdrawn += answer.count(0)?;
            report.already_withdrawn += answer.count(1)?;
            report.in_use += answer.count(2)?;
            report.unknown += answer.count(3)?;
        }
        Ok(report)
    }

    #[instrument(level = "trace", skip_all)]
    async fn restore(&self, items: &[Item]) -> Result<Restored> {
        let mut report = Restored::default();
        for answer in self.in_batches("restore", &RESTORE, &distinct(items)).await? {
            report.restored += answer.count(0)?;
            report.not_withdrawn += answer.count(1)?;
            report.unknown += answer.count(2)?;
        }
        Ok(report)
    }
}
