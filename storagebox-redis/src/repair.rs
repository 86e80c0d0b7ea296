//! Repairs steps that an older version of the library left half done, because its scripts did not check their rights
//! before they wrote.
//!
//! Upkeep checks each namespace once as a whole, in pieces, while other calls use it. A namespace that this version
//! created is marked as sound from its creation.

mod bank;

use storagebox_core::{Ids as _, RandomIds, Result};

use crate::client::{Answer, Client, Kind, ScriptCall};
use crate::script::{Script, script};

static BEGIN: Script = script!("repair_begin", CHANGES, [], "repair/begin");
static FINISH: Script = script!("repair_finish", CHANGES, [], "repair/finish");

static RECORDS: Script =
    script!("record_repair", CHANGES, timed, ["number", "buckets", "queue", "record", "walk"], "dedup_repo/repair");
static ENTITIES: Script =
    script!("entity_repair", CHANGES, timed, ["number", "entity", "entry", "walk"], "entity_ledger/repair");
static ORDERED: Script =
    script!("ordered_repair", CHANGES, timed, ["number", "ordered", "walk"], "ordered_store/repair");

struct Repair<'a> {
    client: &'a Client,
    key: &'a str,
    mended: u64,
}

/// Checks and repairs the namespace with this key, unless it is marked as sound.
pub(crate) async fn namespace(client: &Client, kind: Kind, key: &str) -> Result<()> {
    // A half-done step on tokens or counters hinders no other call.
    if kind == Kind::Tokens || kind == Kind::Counters {
        return Ok(());
    }
    let mut repair = Repair { client, key, mended: 0 };
    let outcome = repair.all(kind).await;
    if repair.mended > 0 {
        let mended = repair.mended;
        tracing::warn!(key, mended, "upkeep repaired incomplete writes of an older version of the library");
    }
    match outcome {
        Err(error) if repair.mended > 0 => Err(error.after_unresolved()),
        outcome => outcome,
    }
}

impl Repair<'_> {
    async fn all(&mut self, kind: Kind) -> Result<()> {
        let word = RandomIds.fresh();
        if self.ask(&self.about(&BEGIN).with(word.as_str())).await?.word()? == "sound" {
            return Ok(());
        }
        let counts = match kind {
            Kind::Bank => self.bank().await?.to_vec(),
            Kind::Records => self.sets(&RECORDS, &["x"]).await?,
            Kind::Entities => self.sets(&ENTITIES, &["x", "d"]).await?,
            Kind::Ordered => self.sets(&ORDERED, &["x", "t"]).await?,
            Kind::Tokens | Kind::Counters => vec![],
        };
        self.finish(&word, &counts).await
    }

    /// Corrects the counts and marks the namespace as sound. If the counted data has changed, the next upkeep counts
    /// again.
    async fn finish(&mut self, word: &str, counts: &[(&'static str, u64)]) -> Result<()> {
        let mut call = self.about(&FINISH).with(word);
        for (field, count) in counts {
            call = call.with(*field).with(*count);
        }
        let wrong = self.ask(&call).await?.count(0)?;
        self.mended += wrong;
        Ok(())
    }

    /// Repairs the sorted sets with these names, and returns no counts.
    async fn sets(&mut self, script: &'static Script, sets: &[&'static str]) -> Result<Vec<(&'static str, u64)>> {
        for set in sets {
            let (mut from, mut passed) = (String::new(), String::new());
            loop {
                let call = self.about(script).with(*set).with(from.as_str()).with(passed.as_str());
                let answer = self.ask(&call).await?;
                self.mended += answer.count(0)?;
                if answer.text(1)? != "more" {
                    break;
                }
                (from, passed) = (answer.text(2)?.to_owned(), answer.text(3)?.to_owned());
            }
        }
        Ok(vec![])
    }

    fn about<'a>(&'a self, script: &'static Script) -> ScriptCall<'a> {
        ScriptCall::new(script, self.key).in_epoch(self.client.epoch())
    }

    async fn ask(&self, call: &ScriptCall<'_>) -> Result<Answer> {
        self.client.settle("maintain", || self.client.answer(call)).await
    }
}
