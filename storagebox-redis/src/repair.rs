//! What a version before this one left half done: its scripts did not ask for their rights before they wrote.
//!
//! Upkeep looks at all of a namespace once, in pieces, while others go on with it. A namespace that this version made has
//! said since its creation that there is nothing to look for.

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

/// One namespace, on the way.
struct Repair<'a> {
    client: &'a Client,
    key: &'a str,
    mended: u64,
}

/// Looks at the namespace of this key, unless that was done.
pub(crate) async fn namespace(client: &Client, kind: Kind, key: &str) -> Result<()> {
    // Of tokens and counters, no half of a step hinders another call.
    if kind == Kind::Tokens || kind == Kind::Counters {
        return Ok(());
    }
    let mut repair = Repair { client, key, mended: 0 };
    let outcome = repair.all(kind).await;
    if repair.mended > 0 {
        let mended = repair.mended;
        tracing::warn!(key, mended, "upkeep mended what an older version of the library had left half done");
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

    /// The namespace is sound. Where something has changed that was counted, the next upkeep counts again.
    async fn finish(&mut self, word: &str, counts: &[(&'static str, u64)]) -> Result<()> {
        let mut call = self.about(&FINISH).with(word);
        for (field, count) in counts {
            call = call.with(*field).with(*count);
        }
        let wrong = self.ask(&call).await?.count(0)?;
        self.mended += wrong;
        Ok(())
    }

    /// All of these sorted sets, which count nothing.
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
        self.client.settled("maintain", || self.client.answer(call)).await
    }
}
