//! Calls that were polled once and are then neither polled nor dropped, as `select!` leaves the futures of other arms.

use std::pin::Pin;

use storagebox_conformance::Proxy;
use storagebox_core::{Backend, Certainty, ClaimId, ClaimState, Counts, ErrorKind, Hold, ItemBank, Result, Taken};

use crate::pools::{SHORT, fill, locked, takes};
use crate::scene::{drop_after, until, with_place};
use crate::support::failed;

const LEFT: usize = 10;

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

async fn is_left<T>(call: &mut Boxed<'_, T>) -> bool {
    drop_after(0, call.as_mut()).await.is_none()
}

fn claims(round: &str, count: usize) -> Result<Vec<ClaimId>> {
    (0..count).map(|number| ClaimId::new(format!("left-{round}-{number}"))).collect()
}

/// The variants of a test, in pairs: whether calls are combined, and whether the namespace is opened before the calls.
const ROUNDS: [(bool, bool); 2] = [(true, false), (false, true)];

/// The pool has more connections than unpolled calls. No call ends at its first poll, because the proxy runs in the
/// test's thread.
#[test]
fn takes_that_are_polled_only_once_block_no_other_take() -> Result<()> {
    with_place(async |place| {
        fill(&place.builder()?.connect(&place.database.url())?, 1_000).await?;
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        for (combining, is_open) in ROUNDS {
            let store = place.builder()?.combining(combining).connect(&place.url_at(proxy.addr()))?;
            let (bank, claims) = (store.item_bank(&"namespace".parse()?)?, claims(&format!("{combining}"), LEFT)?);
            if is_open {
                bank.counts().await?;
            }
            let mut left = vec![];
            for (number, claim) in claims.iter().enumerate() {
                let mut take = bank.take(claim, Hold::Forever);
                assert!(is_left(&mut take).await, "{combining}: take {number} was over at once");
                left.push(take);
                takes(&store, &format!("beside-{combining}-{number}"), 3).await?;
            }
            for take in left {
                let taken = take.await?;
                assert!(matches!(taken, Taken::New(_)), "{combining}: {taken:?}");
            }
        }
        Ok(())
    })
}

#[test]
fn namespace_opening_that_is_polled_once_blocks_no_other_call() -> Result<()> {
    with_place(async |place| {
        let store = place.builder()?.connect(&place.database.url())?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        let (mut opens, mut waits) = (bank.counts(), bank.counts());
        assert!(is_left(&mut opens).await && is_left(&mut waits).await);
        for _ in 0..3 {
            assert_eq!(bank.counts().await?, Counts::default());
        }
        assert_eq!((opens.await?, waits.await?), (Counts::default(), Counts::default()));
        Ok(())
    })
}

/// The unpolled calls hold all connections of the pool. Other calls are refused as not applied.
#[test]
fn error_of_an_exhausted_pool_names_calls_left_unpolled() -> Result<()> {
    with_place(async |place| {
        fill(&place.builder()?.connect(&place.database.url())?, 10).await?;
        for combining in [false, true] {
            let builder = place.builder()?.combining(combining).max_connections(2).call_timeout(SHORT);
            let store = builder.connect(&place.database.url())?;
            let (bank, claims) = (store.item_bank(&"namespace".parse()?)?, claims(&format!("{combining}"), 2)?);
            until("an open namespace", async || Ok(bank.counts().await.is_ok())).await?;
            let locked = locked(place).await?;
            let (mut one, mut other) = (bank.counts(), bank.counts());
            assert!(is_left(&mut one).await && is_left(&mut other).await);
            let error = bank.take(&claims[0], Hold::Forever).await.unwrap_err();
            let found = (error.kind(), error.certainty());
            assert_eq!(found, (ErrorKind::Contention, Certainty::NotApplied), "{combining}: {error:?}");
            assert!(error.to_string().contains("neither awaited nor dropped"), "{combining}: {error}");
            drop((one, other, locked));
            let taken = async || Ok(bank.take(&claims[1], Hold::Forever).await.is_ok());
            until("a take on a connection that is free again", taken).await?;
            assert_eq!(bank.get(&claims[0]).await?, ClaimState::Unknown, "{combining}");
        }
        Ok(())
    })
}
