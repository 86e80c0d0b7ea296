//! One-time tokens on the store: OT-1 to OT-4. They depend on the clauses of tokens, records and leases together.

pub(super) mod ambiguous;
pub(super) mod cancel;
pub(super) mod concurrent;
pub(super) mod edge;
pub(super) mod sequential;
pub(super) mod time;

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, DedupRepo, OneTimeTokens, Payload, Peeked, Result, TokenBegun, TokenCommitted, TokenLease, TokenStore,
};

use crate::failure::{Failure, Verdict, ensure_eq, ensure_matches};
use crate::link::Link;
use crate::race::answered;
use crate::world::World;

/// A time that is longer than any case takes, even on a real clock.
const LONG: Duration = Duration::from_secs(3_600);

/// The limit on the attempts of a patient client.
const ATTEMPTS: usize = 100;

/// The one-time tokens of one client, with the token store and the record repository in which they are stored.
#[derive(Clone)]
struct Links {
    links: OneTimeTokens,
    tokens: Arc<dyn TokenStore>,
    records: Arc<dyn DedupRepo>,
}

impl Links {
    fn of(store: &Arc<dyn Backend>) -> Result<Self> {
        let name = "links".parse()?;
        let (tokens, records) = (store.token_store(&name)?, store.dedup_repo(&name)?);
        let links = OneTimeTokens::new(Arc::clone(&tokens), store.lease_repo(&name)?, Arc::clone(&records));
        Ok(Self { links, tokens, records })
    }

    /// Returns the one-time tokens of the first client, and of another client.
    async fn pair(world: &World) -> Result<[Self; 2]> {
        Ok([Self::of(world.store())?, Self::of(&world.client().await?)?])
    }

    /// Returns the one-time tokens of two clients that repeat each step of a call, as the handles of a program do. A
    /// call that ends after a step without an answer may leave its lease.
    async fn patient_pair(world: &World) -> Result<[Self; 2]> {
        let patient = |store: &Arc<dyn Backend>| -> Result<Self> {
            let store: Arc<dyn Backend> = Link::patient(ATTEMPTS).before_store(store);
            Self::of(&store)
        };
        Ok([patient(world.store())?, patient(&world.client().await?)?])
    }

    fn replaying(mut self, time: Duration) -> Result<Self> {
        self.links = self.links.replay(time)?;
        Ok(self)
    }

    async fn create(&self, token: &str) -> Verdict {
        answered(|| self.links.create([token])).await?;
        Ok(())
    }

    async fn begin(&self, token: &str, caller: &str) -> Result<TokenBegun> {
        self.links.begin(token, caller, LONG).await
    }

    /// Begins the use of a token, and checks that a lease was started.
    async fn start(&self, token: &str, caller: &str, lease: Duration) -> Result<TokenLease, Failure> {
        let begun = self.links.begin(token, caller, lease).await?;
        Ok(ensure_matches!(begun, TokenBegun::Started(lease) => lease, "{caller} begins with the free {token}"))
    }

    /// Commits, and checks that this result was recorded.
    async fn commit(&self, lease: &TokenLease, result: &str) -> Verdict {
        let committed = self.links.commit(lease, result).await?;
        ensure_eq!(committed, TokenCommitted::Committed(text(result)?), "{}'s commit", lease.caller);
        Ok(())
    }

    /// Creates a token and uses it as this caller.
    async fn used(&self, token: &str, caller: &str, result: &str) -> Result<TokenLease, Failure> {
        self.create(token).await?;
        let lease = self.start(token, caller, LONG).await?;
        self.commit(&lease, result).await?;
        Ok(lease)
    }

    async fn ensure_peeked(&self, token: &str, expected: Peeked, when: &str) -> Verdict {
        ensure_eq!(self.links.peek(token).await?, expected, "a look at the token {when}");
        Ok(())
    }

    async fn ensure_replayed(&self, token: &str, caller: &str, result: &str) -> Verdict {
        let begun = answered(|| self.begin(token, caller)).await?;
        ensure_eq!(begun, TokenBegun::Replayed(text(result)?), "{caller}, who used {token}, comes again");
        Ok(())
    }

    async fn ensure_gone(&self, token: &str, caller: &str) -> Verdict {
        let begun = answered(|| self.begin(token, caller)).await?;
        ensure_eq!(begun, TokenBegun::Gone, "{caller} begins with {token}, which is gone");
        Ok(())
    }

    /// Returns the number of records, and whether the token is live.
    async fn left(&self, token: &str) -> Result<(usize, bool), Failure> {
        let records = self.records.list(None, 1_000).await?.entries.len();
        Ok((records, self.tokens.exists(&super::token(token)?).await?))
    }
}

fn text(text: &str) -> Result<Payload> {
    Payload::try_from(text)
}
