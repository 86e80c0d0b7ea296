//! Each call of a share, and the same call of the store itself.

use std::time::Duration;

use storagebox_core::Backend;
use storagebox_core::{
    Begun, Change, Counter, DedupRepo, Hold, Item, ItemBank, LeaseRepo, Namespace, OrderedOptions, OrderedStore,
    Payload, Result, Retention, Stamp, Strategy, TokenStore, WriterId,
};
use storagebox_dynamo::{DynamoStore, PartOutcome, Parts};
use storagebox_testkit::checks::id;

const HOUR: Duration = Duration::from_secs(3_600);

/// The calls that [`Parts`] can make. Each call uses its own namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Assign,
    Confirm,
    /// `confirm` of a hold without an end.
    ConfirmForever,
    Release,
    /// `release` of an unknown claim.
    Fence,
    Record,
    /// `record` of an id whose last operation has ended.
    RecordAfter,
    Create,
    Consume,
    Apply,
    Put,
    Delete,
}

impl Call {
    pub(crate) const ALL: [Self; 12] = [
        Self::Assign,
        Self::Confirm,
        Self::ConfirmForever,
        Self::Release,
        Self::Fence,
        Self::Record,
        Self::RecordAfter,
        Self::Create,
        Self::Consume,
        Self::Apply,
        Self::Put,
        Self::Delete,
    ];

    /// Returns the number of items that the call adds.
    pub(crate) fn actions(self) -> usize {
        match self {
            Self::Assign | Self::Confirm | Self::Release | Self::RecordAfter | Self::Apply => 2,
            _ => 1,
        }
    }

    fn name(self) -> Namespace {
        id(&format!("{self:?}"))
    }

    pub(crate) async fn prepare(self, store: &DynamoStore) -> Result<()> {
        let name = &self.name();
        let hold = if self == Self::Confirm { Hold::For(HOUR) } else { Hold::Forever };
        match self {
            Self::Assign => store.item_bank(name)?.add(&[Item::new("code")?]).await.map(drop),
            Self::Confirm | Self::ConfirmForever | Self::Release => {
                store.item_bank(name)?.add(&[Item::new("code")?]).await?;
                store.item_bank(name)?.take(&id("ada"), hold).await.map(drop)
            }
            Self::RecordAfter => {
                let leases = store.lease_repo(name)?;
                let Begun::Started(lease) = leases.begin(&id("id"), &id("before"), HOUR, None).await? else { panic!() };
                leases.abort(&lease).await.map(drop)
            }
            Self::Consume => store.token_store(name)?.create_tokens(&[id("token")]).await.map(drop),
            Self::Delete => {
                let older = Stamp::new(1, id::<WriterId>("ada"));
                let values = store.ordered_store(name, OrderedOptions::sequence())?;
                values.put(&id("key"), &value(), &older).await.map(drop)
            }
            Self::Fence | Self::Record | Self::Create | Self::Apply | Self::Put => Ok(()),
        }
    }

    /// Adds the call to `parts`, for a transaction of the caller.
    pub(crate) async fn plan(self, parts: &mut Parts) -> Result<PartOutcome> {
        let (name, options) = (&self.name(), OrderedOptions::sequence());
        Ok(match self {
            Self::Assign => PartOutcome::Taken(parts.assign(name, &id("ada")).await?),
            Self::Confirm | Self::ConfirmForever => PartOutcome::Confirmed(parts.confirm(name, &id("ada")).await?),
            Self::Release | Self::Fence => PartOutcome::Released(parts.release(name, &id("ada")).await?),
            Self::Record | Self::RecordAfter => {
                let recorded = parts.record(name, &id("id"), &value(), &id("op"), Retention::DEFAULT).await?;
                PartOutcome::Recorded(recorded)
            }
            Self::Create => PartOutcome::Created(parts.create_token(name, &id("token")).await?),
            Self::Consume => PartOutcome::Consumed(parts.consume(name, &id("token"), &id("op")).await?),
            Self::Apply => PartOutcome::Counted(parts.apply(name, Strategy::default(), &id("key"), &change()).await?),
            Self::Put => PartOutcome::Written(parts.put(name, options, &id("key"), &value(), &stamp()).await?),
            Self::Delete => PartOutcome::Written(parts.delete(name, options, &id("key"), &stamp()).await?),
        })
    }

    /// Makes the call directly on the store, without a transaction of the caller.
    pub(crate) async fn make(self, store: &DynamoStore) -> Result<PartOutcome> {
        let (name, options) = (&self.name(), OrderedOptions::sequence());
        Ok(match self {
            Self::Assign => PartOutcome::Taken(store.item_bank(name)?.take(&id("ada"), Hold::Forever).await?),
            Self::Confirm | Self::ConfirmForever => {
                PartOutcome::Confirmed(store.item_bank(name)?.confirm(&id("ada")).await?)
            }
            Self::Release | Self::Fence => PartOutcome::Released(store.item_bank(name)?.release(&id("ada")).await?),
            Self::Record | Self::RecordAfter => {
                let records = store.dedup_repo(name)?;
                PartOutcome::Recorded(records.record(&id("id"), &value(), &id("op"), Retention::DEFAULT).await?)
            }
            Self::Create => PartOutcome::Created(store.token_store(name)?.create_tokens(&[id("token")]).await?),
            Self::Consume => PartOutcome::Consumed(store.token_store(name)?.consume(&id("token"), &id("op")).await?),
            Self::Apply => {
                let counter = store.counter(name, Strategy::default())?;
                PartOutcome::Counted(counter.apply(&id("key"), &change()).await?)
            }
            Self::Put => {
                let values = store.ordered_store(name, options)?;
                PartOutcome::Written(values.put(&id("key"), &value(), &stamp()).await?)
            }
            Self::Delete => {
                let values = store.ordered_store(name, options)?;
                PartOutcome::Written(values.delete(&id("key"), &stamp()).await?)
            }
        })
    }
}

fn value() -> Payload {
    Payload::try_from("value").unwrap()
}

fn change() -> Change {
    Change::new(id("op"), 5)
}

fn stamp() -> Stamp {
    Stamp::new(7, id("ada"))
}
