//! `commit`: one transaction of the entity, its new entry and the joined tokens.

use std::collections::BTreeSet;

use storagebox_core::{
    Commit, Committed, EntityChange, Error, ErrorKind, OutboxEntry, Payload, Result, TokenId, Version,
};

use super::DynamoEntityLedger;
use super::rows::{Entity, FENCED, GONE, VACANT, entry, is_named, texts};
use crate::client::{Refusal, Tag, Transacted, Write};
use crate::error::contention;
use crate::row::{Row, RowKey};
use crate::token_store::{DynamoTokenStore, ObservedToken};

/// The largest number of rows in one transaction of DynamoDB.
const MOST_ROWS: usize = 100;
/// The largest number of transactions in one attempt.
const MOST_REFUSALS: u32 = 8;

pub(super) struct CommitCall<'a> {
    ledger: &'a DynamoEntityLedger,
    commit: &'a Commit,
    /// The tokens that the commit creates, without duplicates.
    create: BTreeSet<&'a TokenId>,
    tag: Tag,
}

/// What one write of the transaction changes or checks.
enum Part<'a> {
    Entity,
    Entry,
    Consumed(&'a DynamoTokenStore),
    Created(&'a DynamoTokenStore, &'a TokenId),
}

/// What an attempt has learned from refusals.
#[derive(Default)]
struct Learned<'a> {
    /// The tag of the removed entry, if the condition `VACANT` did not hold because the entry had just been removed.
    fence: Option<String>,
    /// The tag of the call that created the consumed token, if the token had just been created when the transaction was
    /// sent.
    young: Option<String>,
    /// New tokens that are already live or gone, and therefore are not created.
    known: BTreeSet<&'a TokenId>,
}

#[derive(Default)]
struct Refused<'a> {
    entity: bool,
    entry: Option<OutboxEntry>,
    fence: Option<String>,
    consumed: Option<ObservedToken>,
    known: Vec<&'a TokenId>,
}

impl<'a> CommitCall<'a> {
    /// Checks the commit. Returns `InvalidInput` if the ledger does not join the namespaces of the commit's tokens, and
    /// `TooLarge` if the commit needs more rows than a transaction has.
    pub(super) fn new(ledger: &'a DynamoEntityLedger, commit: &'a Commit) -> Result<Self> {
        commit.checked(&ledger.joins).map_err(|error| error.on("dynamo"))?;
        // The consumed token is gone after the commit, so the commit does not create it.
        let own = commit.consume.as_ref().filter(|_| ledger.joins.incoming == ledger.joins.outgoing);
        let create = commit.create.iter().filter(|token| own != Some(token)).collect();
        let call = Self { ledger, commit, create, tag: Tag::fresh() };
        if call.rows() > MOST_ROWS { Err(call.too_many()) } else { Ok(call) }
    }

    fn rows(&self) -> usize {
        self.other_rows() + self.create.len()
    }

    /// Returns the number of rows besides the new tokens: the entity, the entry and the consumed token.
    fn other_rows(&self) -> usize {
        2 + usize::from(self.commit.consume.is_some())
    }

    fn too_many(&self) -> Error {
        let most = MOST_ROWS - self.other_rows();
        let why = format!("one commit must create at most {most} tokens, because a transaction has {MOST_ROWS} rows");
        Error::new(ErrorKind::TooLarge, why).with("limit", most).with("tokens", self.create.len()).on("dynamo")
    }

    /// Makes one attempt, which may need several transactions.
    pub(super) async fn attempt(&self) -> Result<Committed> {
        // The first transaction assumes that the new tokens are unknown, and that the consumed token is not new.
        let mut learned = Learned::default();
        for _ in 0..MOST_REFUSALS {
            let (parts, writes): (Vec<_>, Vec<_>) = self.parts(&learned).await?.into_iter().unzip();
            let refusals = match self.ledger.client().transact(&writes).await? {
                Transacted::Done => return Ok(Committed::Committed),
                Transacted::Refused(refusals) => refusals,
            };
            if let Some(answer) = self.judge(self.refused(&parts, refusals)?, &mut learned) {
                return Ok(answer);
            }
        }
        Err(contention())
    }

    async fn parts(&self, learned: &Learned<'a>) -> Result<Vec<(Part<'a>, Write)>> {
        let Commit { key, message, attempt, .. } = self.commit;
        let entities = &self.ledger.entities;
        let mut parts = vec![(Part::Entity, self.changed(&entities.entity_key(key).await?))];
        parts.push((Part::Entry, self.added(&entities.entry_key(key, message).await?, learned)));
        if let (Some(tokens), Some(token)) = (&self.ledger.incoming, &self.commit.consume) {
            let consumption = tokens.consumption(token, attempt, &self.tag, learned.young.as_deref()).await?;
            parts.push((Part::Consumed(tokens), consumption));
        }
        if let Some(tokens) = &self.ledger.outgoing {
            for token in self.create.difference(&learned.known) {
                parts.push((Part::Created(tokens, token), tokens.creation(token, &self.tag).await?));
            }
        }
        Ok(parts)
    }

    fn changed(&self, key: &RowKey) -> Write {
        let (entities, opened) = (&self.ledger.entities, self.commit.opened.map(Version::number));
        let forgotten = entities.open.forgotten_after(entities.client().now());
        let next = entities.client().number_after(opened.unwrap_or(0));
        let write = Write::update(key).tagged(&self.tag).set("n", next).set_some("z", forgotten.map(|at| at.0));
        let write = match &self.commit.change {
            EntityChange::Keep => write,
            EntityChange::Put(state) => write.set("v", state.as_bytes()),
            EntityChange::Delete => write.remove(&["v"]),
        };
        match opened {
            None => write.only_if("attribute_not_exists(pk)"),
            Some(opened) => write.only_if("n = :opened").value(":opened", opened),
        }
    }

    /// Returns the write of the entry. If the commit adds no entry, the write only checks that the message has no
    /// entry.
    fn added(&self, key: &RowKey, learned: &Learned<'a>) -> Write {
        let write = match &self.commit.entry {
            Some(content) => Write::put(self.entry(key, content)).tagged(&self.tag),
            None => Write::check(key),
        };
        let write = write.value(":gone", GONE);
        match &learned.fence {
            Some(fence) => write.only_if(FENCED).value(":fence", fence.as_str()),
            None => write.only_if(VACANT).value(":now", self.ledger.client().now().0),
        }
    }

    fn entry(&self, key: &RowKey, content: &Payload) -> Row {
        let attempt = &self.commit.attempt;
        Row::new(key)
            .with("o", key.sort.as_str())
            .with("c", attempt.as_str())
            .with("m", self.tag.as_str())
            .with("b", self.ledger.client().now().0)
            .with("d", self.commit.key.as_str())
            .with("v", content.as_bytes())
            .with("a", texts([attempt]))
            .with_some("p", (!self.commit.create.is_empty()).then_some(attempt.as_str()))
    }

    /// Reads why a transaction was refused; `parts` describes its writes.
    fn refused(&self, parts: &[Part<'a>], refusals: Vec<Refusal>) -> Result<Refused<'a>> {
        let mut refused = Refused::default();
        for (part, refusal) in parts.iter().zip(refusals) {
            let Refusal::Condition(row) = refusal else { continue };
            match part {
                Part::Entity => {
                    row.as_ref().map(Entity::read).transpose()?;
                    refused.entity = true;
                }
                Part::Entry => {
                    refused.entry = row.as_ref().map_or(Ok(None), entry)?;
                    refused.fence = row.and_then(|row| row.text("t").map(str::to_owned));
                }
                Part::Consumed(tokens) => {
                    refused.consumed = Some(tokens.observed(row, &self.commit.attempt, &self.tag)?);
                }
                Part::Created(tokens, token) => refused.known.extend(tokens.is_known(row)?.then_some(*token)),
            }
        }
        Ok(refused)
    }

    /// Returns the outcome of a refused transaction; `None` if the attempt needs another transaction.
    fn judge(&self, refused: Refused<'a>, learned: &mut Learned<'a>) -> Option<Committed> {
        let is_own = refused.entry.as_ref().is_some_and(|entry| is_named(entry, &self.commit.attempt));
        match refused.consumed {
            _ if is_own => return Some(Committed::Committed),
            Some(ObservedToken::Consumed) => return Some(Committed::Committed),
            _ if refused.entity || refused.entry.is_some() => return Some(Committed::Conflict),
            Some(ObservedToken::Gone) => return Some(Committed::TokenGone),
            Some(ObservedToken::Young(made)) => learned.young = Some(made),
            None => {}
        }
        learned.fence = refused.fence.or(learned.fence.take());
        learned.known.extend(refused.known);
        None
    }
}
