//! `storagebox maintain`: deletes what no promise needs any more.

use storagebox::{Maintained, parts::Backend};
use tokio::task::yield_now;

use crate::answer::Answer;
use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::retry;
use crate::step::Step;
use crate::store;
use crate::terminal;

/// How many entries are deleted with one call.
const BATCH: usize = 1_000;

pub(crate) async fn run(global: &Global) -> Result<Exit, Failure> {
    let store = store::ready(global).await?;
    let maintained = maintain(&*store).await;
    store::closed(&*store, maintained).await?.print(&mut terminal::stdout(global.json), global.json)
}

/// A batch at a time, so that an interrupt finds its place; what is deleted stays deleted.
async fn maintain(store: &dyn Backend) -> Result<Answer, Failure> {
    let mut total = 0;
    loop {
        let call = || store.maintain(BATCH);
        let Maintained { deleted, more } = retry::harmless(Step::Maintain, call).await?;
        total += deleted;
        if !more {
            let answer = Answer::new(Exit::Done).word("backend", store.backend());
            return Ok(answer.figure("deleted", total));
        }
        yield_now().await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use storagebox::{MemoryStore, Retention, parts::DedupRepo};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_over_is_deleted_in_batches_and_the_rest_stays() {
        let store = MemoryStore::new();
        let records = store.dedup_repo(&"records".parse().unwrap()).unwrap();
        let hour = Retention::For(Duration::from_secs(3600));
        for number in 0..2_500 {
            let _ = records
                .record(
                    &format!("{number}").parse().unwrap(),
                    &"done".try_into().unwrap(),
                    &"op".parse().unwrap(),
                    hour,
                )
                .await
                .unwrap();
        }
        let _ = records
            .record(&"kept".parse().unwrap(), &"done".try_into().unwrap(), &"op".parse().unwrap(), Retention::Forever)
            .await
            .unwrap();
        // The week of the operations that made them begins when their end is seen.
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(maintain(&store).await.unwrap().json()["deleted"], 0);
        tokio::time::advance(Duration::from_secs(8 * 24 * 3600)).await;
        assert_eq!(maintain(&store).await.unwrap().json()["deleted"], 2_500);
        assert_eq!(maintain(&store).await.unwrap().json()["deleted"], 0);
        assert_eq!(records.list(None, 10).await.unwrap().entries.len(), 1);
    }
}
