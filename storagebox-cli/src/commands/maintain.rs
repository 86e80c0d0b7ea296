//! `storagebox maintain`: deletes what no promise needs any more.

use storagebox::{Maintained, Store};
use tokio::task::yield_now;

use crate::answer::Answer;
use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::store;
use crate::terminal;

const BATCH: usize = 1_000;

pub(crate) async fn run(global: &Global) -> Result<Exit, Failure> {
    let store = store::ready(global).await?;
    let maintained = maintain(&store).await;
    store::closed(&store, maintained).await?.print(&mut terminal::stdout(global.json), global.json)
}

/// Deletes in batches, so that a signal can interrupt the command between two batches.
async fn maintain(store: &Store) -> Result<Answer, Failure> {
    let mut total = 0;
    loop {
        let Maintained { deleted, more } = store.maintain(BATCH).await?;
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

    use storagebox::Retention;

    use super::*;
    use crate::commands::faulty::memory;

    #[tokio::test(start_paused = true)]
    async fn expired_records_are_deleted_in_batches() {
        let store = memory();
        let records = store.dedup("records").unwrap();
        let hour = Retention::For(Duration::from_secs(3600));
        for number in 0..2_500 {
            let _ = records.record(number.to_string(), "done").keep(hour).by("op").await.unwrap();
        }
        let _ = records.record("kept", "done").keep(Retention::Forever).by("op").await.unwrap();
        // From now on the store remembers for a week the operations that created the records.
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(maintain(&store).await.unwrap().json()["deleted"], 0);
        tokio::time::advance(Duration::from_secs(8 * 24 * 3600)).await;
        assert_eq!(maintain(&store).await.unwrap().json()["deleted"], 2_500);
        assert_eq!(maintain(&store).await.unwrap().json()["deleted"], 0);
        assert_eq!(records.list().all().await.unwrap().len(), 1);
    }
}
