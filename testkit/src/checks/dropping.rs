//! Futures that are dropped while they wait: the next call gets the right answer, and its effect stays.

use storagebox_core::{
    Backend, Change, ClaimId, Commit, Counted, Counter, DedupId, DedupRepo, Hold, Item, ItemBank, Recorded, Result,
    Retention, Strategy, TokenId, TokenStore,
};

use super::drop_after;
use super::entities::{commit_at, committed, joined};

/// An upper bound of the number of times that a call waits before it completes.
const MOST_WAITS: usize = 200;

/// The calls that are dropped.
#[allow(missing_docs, reason = "each is the call of its name")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    Take,
    Record,
    Apply,
    Create,
    Commit,
    Look,
    Maintain,
    Setup,
}

impl Dropped {
    /// All calls that are dropped.
    pub const ALL: [Self; 8] =
        [Self::Take, Self::Record, Self::Apply, Self::Create, Self::Commit, Self::Look, Self::Maintain, Self::Setup];

    /// Makes the call, with this id if it has one.
    pub async fn make(self, store: &dyn Backend, id: &str) -> Result<()> {
        let name = "namespace".parse()?;
        match self {
            Self::Take => store.item_bank(&name)?.take(&ClaimId::new(id)?, Hold::Forever).await.map(drop),
            Self::Record => {
                let (op, value) = ("op".parse()?, id.try_into()?);
                store.dedup_repo(&name)?.record(&id.parse()?, &value, &op, Retention::Forever).await.map(drop)
            }
            Self::Apply => {
                let change = Change::new("op".parse()?, 1);
                store.counter(&name, Strategy::default())?.apply(&id.parse()?, &change).await.map(drop)
            }
            Self::Create => store.token_store(&name)?.create_tokens(&[TokenId::new(id)?]).await.map(drop),
            Self::Commit => {
                let (entities, tokens) = joined(store)?;
                let consume: Option<TokenId> = Some(id.parse()?);
                tokens.create_tokens(consume.as_slice()).await?;
                committed(&*entities, &Commit { key: id.parse()?, consume, ..commit_at(None, id) }).await
            }
            Self::Look => store.item_bank(&name)?.counts().await.map(drop),
            Self::Maintain => store.maintain(10).await.map(drop),
            Self::Setup => store.setup().await,
        }
    }
}

/// Two clients of one store.
#[derive(Debug)]
pub struct Clients<'a> {
    /// The prefix of the ids of all calls.
    pub name: &'a str,
    /// The client whose calls are dropped.
    pub old: &'a dyn Backend,
    /// The client that checks the effects of the first client's calls.
    pub fresh: &'a dyn Backend,
}

impl Clients<'_> {
    /// Drops each of these calls at its first wait, then at its second wait, and so on until the call completes.
    pub async fn drop_everywhere(&self, calls: &[Dropped]) -> Result<()> {
        let items: Vec<_> = (0..500).map(|number| Item::new(format!("{number}"))).collect::<Result<_>>()?;
        self.fresh.item_bank(&"namespace".parse()?)?.add(&items).await?;
        for call in calls {
            let mut waits = 0;
            while !self.drop_at(*call, waits).await? {
                waits += 1;
                assert!(waits < MOST_WAITS, "{}: {call:?} is not through after {waits} points", self.name);
            }
            // A look may be answered before it waits.
            assert!(waits >= 1 || *call == Dropped::Look, "{}: {call:?} never waits", self.name);
        }
        Ok(())
    }

    /// Drops the call after `waits` waits, and then repeats the call. Returns whether the dropped call completed.
    async fn drop_at(&self, call: Dropped, waits: usize) -> Result<bool> {
        let id = format!("{}-{call:?}-{waits}", self.name);
        let through = drop_after(waits, call.make(self.old, &id)).await.transpose()?;
        for number in 0..3 {
            self.record(&format!("{id}-then-{number}")).await?;
            self.count(&format!("{id}-then-{number}")).await?;
        }
        call.make(self.old, &id).await?;
        Ok(through.is_some())
    }

    /// Records a value with the client whose call was dropped, and checks the answer. The other client must see the
    /// value.
    async fn record(&self, id: &str) -> Result<()> {
        let (key, op, value) = (DedupId::new(id)?, "op".parse()?, id.try_into()?);
        let records = self.old.dedup_repo(&"namespace".parse()?)?;
        let recorded = records.record(&key, &value, &op, Retention::Forever).await?;
        assert!(matches!(recorded, Recorded::New(_)), "{id}: {recorded:?}");
        let found = self.fresh.dedup_repo(&"namespace".parse()?)?.get(&key).await?;
        assert_eq!(found.map(|entry| entry.value.into_bytes()).as_deref(), Some(id.as_bytes()), "{id}");
        Ok(())
    }

    /// Changes a counter with the client whose call was dropped, and checks the answer. The other client must see the
    /// new value.
    async fn count(&self, id: &str) -> Result<()> {
        let (key, change) = (id.parse()?, Change::new("op".parse()?, 7));
        let counted = self.old.counter(&"namespace".parse()?, Strategy::default())?.apply(&key, &change).await?;
        assert_eq!(counted, Counted::Applied { value: Some(7) }, "{id}");
        let value = self.fresh.counter(&"namespace".parse()?, Strategy::default())?.value(&key).await?;
        assert_eq!(value, 7, "{id}");
        Ok(())
    }
}
