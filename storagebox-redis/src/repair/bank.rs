//! Repairs banks. The claims say which claim holds an item, and the items say which items are free. The queue, the ends
//! of the holds and the counts are corrected to agree with both.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

use storagebox_core::Result;

use super::Repair;
use crate::item_bank::of_bank;
use crate::script::Script;

static QUEUE: Script = of_bank!("bank_repair_queue", CHANGES, [], "item_bank/repair_queue");
static HOLDS: Script = of_bank!("bank_repair_holds", CHANGES, ["claims", "walk"], "item_bank/repair_holds");
static CLAIMS: Script = of_bank!("bank_repair_claims", CHANGES, ["claims", "repair_bank"], "item_bank/repair_claims");
static ENDED: Script = of_bank!("bank_repair_ended", CHANGES, ["claims", "repair_bank"], "item_bank/repair_ended");
static ITEMS: Script = of_bank!("bank_repair_items", CHANGES, ["claims", "repair_bank"], "item_bank/repair_items");
static FREE: Script = of_bank!("bank_repair_free", CHANGES, ["claims", "repair_bank"], "item_bank/repair_free");

/// The hash values of the entries of a queue, which may have millions of entries.
struct Queue {
    /// The number of the queue's last list when reading began. This list and later lists have the entries that were
    /// queued since then.
    last: String,
    hashes: HashSet<u64>,
    by: RandomState,
}

impl Queue {
    fn has(&self, entry: &[u8]) -> bool {
        self.hashes.contains(&self.by.hash_one(entry))
    }

    /// Returns whether the item is in the queue.
    fn has_item(&self, bucket: u64, item: &[u8]) -> bool {
        // The scripts store an entry as three bytes of its bucket, followed by the item.
        let [.., high, middle, low] = bucket.to_be_bytes();
        self.has(&[&[high, middle, low], item].concat())
    }
}

impl Repair<'_> {
    /// Repairs the whole bank, and returns the correct counts.
    pub(super) async fn bank(&mut self) -> Result<[(&'static str, u64); 4]> {
        let (free, ended) = (self.queue("f").await?, self.queue("e").await?);
        self.claims(&ended).await?;
        let counts = self.items(&free).await?;
        // This is the last step, because the repair of items reads the ends of holds from this set.
        self.sets(&HOLDS, &["t"]).await?;
        Ok(counts)
    }

    async fn queue(&mut self, name: &'static str) -> Result<Queue> {
        let mut queue = Queue { last: String::new(), hashes: HashSet::new(), by: RandomState::new() };
        let mut at = String::new();
        loop {
            let answer = self.ask(&self.about(&QUEUE).with(name).with(at.as_str()).in_bulk()).await?;
            let (piece, last) = (answer.count(0)?, answer.count(1)?);
            if queue.last.is_empty() {
                queue.last = last.to_string();
            }
            self.mended += answer.count(2)?;
            for entry in answer.entries_after(3, 1) {
                queue.hashes.insert(queue.by.hash_one(answer.bytes(entry)?));
            }
            if piece >= last {
                return Ok(queue);
            }
            at = (piece + 1).to_string();
        }
    }

    async fn claims(&mut self, ended: &Queue) -> Result<()> {
        let mut from = "0".to_owned();
        while !from.is_empty() {
            let answer = self.ask(&self.about(&CLAIMS).with(from.as_str()).in_bulk()).await?;
            self.mended += answer.count(1)?;
            let mut call = self.about(&ENDED).with(ended.last.as_str());
            let mut is_any = false;
            for at in answer.entries_after(2, 1) {
                let entry = answer.bytes(at)?;
                if !ended.has(entry) {
                    (call, is_any) = (call.with(entry), true);
                }
            }
            if is_any {
                let mended = self.ask(&call).await?.count(0)?;
                self.mended += mended;
            }
            answer.text(0)?.clone_into(&mut from);
        }
        Ok(())
    }

    async fn items(&mut self, free: &Queue) -> Result<[(&'static str, u64); 4]> {
        let mut counts = [("n", 0), ("s", 0), ("w", 0), ("q", 0)];
        let mut from = "0".to_owned();
        while !from.is_empty() {
            let answer = self.ask(&self.about(&ITEMS).with(from.as_str()).in_bulk()).await?;
            self.mended += answer.count(1)?;
            for (at, (_, count)) in counts.iter_mut().enumerate() {
                *count += answer.count(2 + at)?;
            }
            let mut call = self.about(&FREE).with(free.last.as_str());
            let mut is_any = false;
            for at in answer.entries_after(6, 2) {
                let (bucket, item) = (answer.count(at)?, answer.bytes(at + 1)?);
                if !free.has_item(bucket, item) {
                    (call, is_any) = (call.with(bucket).with(item), true);
                }
            }
            if is_any {
                let done = self.ask(&call).await?;
                self.mended += done.count(0)?;
                counts[3].1 -= done.count(1)?;
            }
            answer.text(0)?.clone_into(&mut from);
        }
        Ok(counts)
    }
}
