//! A clock that is set back: holds and leases last longer, and ended claims and consumed tokens stay ended.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, Begun, Change, ClaimId, Completed, Confirmed, Consumed, Counted, Counter, Created, DedupId, End, Hold,
    Item, ItemBank, Key, Lease, LeaseRepo, Namespace, OpId, Payload, Result, Retention, Strategy, Taken, TokenId,
    TokenStore,
};

use super::{HOUR, failed};

const MINUTE: Duration = Duration::from_secs(60);

/// How far the clock is ahead before it is set back.
const AHEAD: Duration = HOUR;

/// Checks that a store keeps its promises if its clock is first an hour ahead and is then set back. `at` opens the
/// store again with a clock that is this far ahead.
pub async fn set_back(mut at: impl AsyncFnMut(Duration) -> Result<Arc<dyn Backend>>) -> Result<()> {
    let before = Scene::of(at(AHEAD).await?)?;
    let (item, lease) = before.set().await?;
    Scene::of(at(Duration::ZERO).await?)?.is_as_it_was(&item).await?;
    // By now the hold and the lease are over by the clock with which they were made.
    Scene::of(at(AHEAD + 2 * MINUTE).await?)?.is_over(&item, &lease).await
}

struct Scene {
    store: Arc<dyn Backend>,
    bank: Arc<dyn ItemBank>,
    leases: Arc<dyn LeaseRepo>,
    tokens: Arc<dyn TokenStore>,
    counters: Arc<dyn Counter>,
}

impl Scene {
    fn of(store: Arc<dyn Backend>) -> Result<Self> {
        let name = Namespace::new("namespace")?;
        let (bank, leases, tokens) = (store.item_bank(&name)?, store.lease_repo(&name)?, store.token_store(&name)?);
        let counters = store.counter(&name, Strategy::default())?;
        Ok(Self { store, bank, leases, tokens, counters })
    }

    async fn take(&self, claim: &str, hold: Hold) -> Result<Taken> {
        self.bank.take(&ClaimId::new(claim)?, hold).await
    }

    async fn begin(&self, op: &str) -> Result<Begun> {
        self.leases.begin(&DedupId::new("id")?, &OpId::new(op)?, MINUTE, None).await
    }

    async fn count(&self) -> Result<Counted> {
        self.counters.apply(&Key::new("key")?, &Change::new(OpId::new("op")?, 5)).await
    }

    async fn consume(&self, op: &str) -> Result<Consumed> {
        self.tokens.consume(&TokenId::new("token")?, &OpId::new(op)?).await
    }

    async fn create(&self) -> Result<Created> {
        self.tokens.create_tokens(&[TokenId::new("token")?]).await
    }

    /// Creates a hold and a lease that last a minute, a released claim, a consumed token and a change of a counter.
    /// Returns the held item and the lease.
    async fn set(&self) -> Result<(Item, Lease)> {
        self.bank.add(&[Item::new("one")?, Item::new("another")?]).await?;
        let _ = self.take("over", Hold::For(MINUTE)).await?;
        let _ = self.bank.release(&ClaimId::new("over")?).await?;
        self.create().await?;
        assert_eq!(self.consume("op").await?, Consumed::Now);
        let counted = self.count().await?;
        assert!(matches!(counted, Counted::Applied { .. }), "{counted:?}");
        let Begun::Started(lease) = self.begin("first").await? else { return Err(failed("no lease was begun")) };
        match self.take("ada", Hold::For(MINUTE)).await? {
            Taken::New(held) => Ok((held.item, lease)),
            other => Err(failed(format_args!("ada got {other:?}"))),
        }
    }

    /// Checks that the hold and the lease have not expired. Checks that the released claim, the token and the change
    /// are remembered, even after `maintain`.
    async fn is_as_it_was(&self, item: &Item) -> Result<()> {
        for _ in 0..2 {
            assert_eq!(self.take("ada", Hold::For(MINUTE)).await?.item(), Some(item), "the hold");
            let others = self.take("bob", Hold::Forever).await?;
            assert!(others.item().is_some_and(|others| others != item), "{others:?}");
            assert_eq!(self.take("eve", Hold::Forever).await?, Taken::Empty);
            let over = self.take("over", Hold::Forever).await?;
            assert!(matches!(over, Taken::Ended(End::Released)), "{over:?}");
            let begun = self.begin("second").await?;
            assert!(matches!(begun, Begun::InFlight { .. }), "{begun:?}");
            self.is_remembered().await?;
            self.store.maintain(1_000).await?;
        }
        Ok(())
    }

    async fn is_remembered(&self) -> Result<()> {
        assert_eq!((self.consume("op").await?, self.consume("late").await?), (Consumed::Again, Consumed::AlreadyGone));
        assert_eq!(self.create().await?, Created { created: 0, already_live: 0, gone: 1 });
        let counted = self.count().await?;
        assert!(matches!(counted, Counted::AlreadyApplied { .. }), "{counted:?}");
        assert_eq!(self.counters.value(&Key::new("key")?).await?, 5);
        Ok(())
    }

    /// Checks that the hold and the lease have expired: another claim gets the item, and another operation gets the
    /// lease.
    async fn is_over(&self, item: &Item, first: &Lease) -> Result<()> {
        assert_eq!(self.take("eve", Hold::Forever).await?.item(), Some(item), "the item whose hold is over");
        let confirmed = self.bank.confirm(&ClaimId::new("ada")?).await?;
        assert!(matches!(confirmed, Confirmed::Ended(End::Expired)), "{confirmed:?}");
        let Begun::Started(second) = self.begin("second").await? else { return Err(failed("no lease was begun")) };
        assert!(second.fence > first.fence, "{second:?} after {first:?}");
        let late = self.leases.complete(first, &Payload::try_from("late")?, Retention::Forever).await?;
        assert_eq!(late, Completed::Fenced);
        self.is_remembered().await
    }
}
