//! Upkeep of more lapsed holds than one statement could free in its time, while others take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use storagebox_core::{Backend, ClaimId, Hold, ItemBank, Maintained, Result, Taken};
use storagebox_postgres::PostgresStore;
use tokio::task::JoinSet;

use crate::scene::{count, in_place, lapse};
use crate::support::{Place, run};

const LAPSED: i64 = 300_000;
const TAKERS: usize = 8;

fn store(place: &Place) -> Result<PostgresStore> {
    place.builder()?.connect(&place.url_at(place.database.server()))
}

/// Makes takes until upkeep is over. Checks that each take gets an item.
async fn take(store: PostgresStore, name: usize, is_over: Arc<AtomicBool>, taken: Arc<AtomicU64>) -> Result<()> {
    let bank = store.item_bank(&"namespace".parse()?)?;
    let mut number = 0;
    while !is_over.load(Ordering::SeqCst) {
        number += 1;
        let answer = bank.take(&ClaimId::new(format!("{name}-{number}"))?, Hold::Forever).await?;
        assert!(matches!(answer, Taken::New(_)), "{name}-{number}: {answer:?}");
        taken.fetch_add(1, Ordering::SeqCst);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove postgres"]
async fn upkeep_frees_many_lapsed_holds_while_takers_are_served() -> Result<()> {
    in_place(async |place| {
        let upkeep = store(place)?;
        upkeep.item_bank(&"namespace".parse()?)?.counts().await?;
        run(place.database.owner(), lapse(&place.schema, LAPSED)).await?;
        let (is_over, taken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let mut takers = JoinSet::new();
        for name in 0..TAKERS {
            takers.spawn(take(store(place)?, name, Arc::clone(&is_over), Arc::clone(&taken)));
        }
        let done = upkeep.maintain(usize::MAX).await;
        is_over.store(true, Ordering::SeqCst);
        takers.join_all().await.into_iter().collect::<Result<()>>()?;
        assert_eq!(done?, Maintained { deleted: 0, more: false });
        let lapsed = format!("SELECT count(*) FROM {}.claims WHERE until < now()", place.schema);
        assert_eq!(count(&place.database, &lapsed).await?, 0, "lapsed holds that are left");
        let taken = taken.load(Ordering::SeqCst);
        assert_eq!(upkeep.item_bank(&"namespace".parse()?)?.counts().await?.held, taken);
        println!("upkeep: {LAPSED} lapsed holds freed, {taken} takes by {TAKERS} takers beside, each served");
        Ok(())
    })
    .await
}
