//! Futures that are dropped while they wait: no transaction stays open, and the next call has the right outcome.

use storagebox_core::{Backend, DedupRepo, ErrorKind, Recorded, Result, Retention};
use storagebox_testkit::checks::dropping::{Clients, Dropped};

use crate::support::{Place, failed};

#[tokio::test]
async fn a_dropped_call_leaves_nothing_half_done() -> Result<()> {
    for combining in [true, false] {
        let place = Place::ready().await?;
        let old = place.builder().combining(combining).open(place.path())?;
        let (name, fresh) = (format!("{combining}"), place.store()?);
        Clients { name: &name, old: &old, fresh: &fresh }.drop_everywhere(&Dropped::ALL).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_dropped_call_leaves_a_pool_of_the_caller_unchanged() -> Result<()> {
    let place = Place::ready().await?;
    let (old, fresh) = (place.builder().from_pool(place.pool())?, place.store()?);
    Clients { name: "handed in", old: &old, fresh: &fresh }.drop_everywhere(&Dropped::ALL).await
}

/// The runtime ends during calls, whose transactions are committed or rolled back.
#[test]
fn a_store_works_after_its_runtime_has_ended() -> Result<()> {
    let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let place = runtime().map_err(failed)?.block_on(Place::ready())?;
    let store = place.store()?;
    for round in 0..20 {
        let first = runtime().map_err(failed)?;
        for number in 0..8 {
            let records = store.dedup_repo(&"namespace".parse()?)?;
            first.spawn(async move {
                let id = format!("{round}-{number}");
                records
                    .record(&id.as_str().parse()?, &"value".try_into()?, &id.as_str().parse()?, Retention::Forever)
                    .await
            });
        }
        first.shutdown_background();
        runtime().map_err(failed)?.block_on(async {
            let (records, id) = (store.dedup_repo(&"namespace".parse()?)?, format!("then-{round}"));
            let (id, value, op) = (id.parse()?, "value".try_into()?, "op".parse()?);
            let record = || records.record(&id, &value, &op, Retention::Forever);
            let recorded = match record().await {
                // The call shared a transaction whose commit was interrupted by the end of the first runtime.
                Err(error) if error.kind() == ErrorKind::OutcomeUnknown => record().await,
                recorded => recorded,
            };
            assert!(matches!(recorded?, Recorded::New(_) | Recorded::Again(_)));
            Ok::<_, storagebox_core::Error>(())
        })?;
    }
    Ok(())
}
