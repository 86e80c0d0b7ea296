//! Breaks between the transactions of a busy process, so that other processes can lock the file.

use std::time::{Duration, Instant};

/// The longest time for which a process writes without a break. Without breaks, other processes rarely find the file
/// free.
const LONGEST: Duration = Duration::from_millis(250);

/// The length of a break, longer than the longest pause of a waiting process (`Pauses`).
const BREAK: Duration = Duration::from_millis(5);

/// Returns the monotonic time, which does not depend on the store's clock.
#[allow(clippy::disallowed_methods, reason = "no promise depends on it")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// Makes a break for other processes after many transactions that follow each other closely (a [`Run`]).
#[derive(Debug, Default)]
pub(super) struct FairnessBreak(Option<Run>);

#[derive(Clone, Copy, Debug)]
struct Run {
    began: Instant,
    ended: Instant,
}

impl FairnessBreak {
    /// Makes a break before the next transaction if a break is due.
    #[allow(clippy::disallowed_methods, reason = "a break for the others; no promise depends on it")]
    pub(super) async fn give_way(&mut self) {
        if self.is_long(now()) {
            self.0 = None;
            tokio::time::sleep(BREAK).await;
        }
    }

    fn is_long(&self, now: Instant) -> bool {
        self.goes_on(now).is_some_and(|run| now - run.began >= LONGEST)
    }

    pub(super) fn add(&mut self, began: Instant, ended: Instant) {
        let began = self.goes_on(began).map_or(began, |run| run.began);
        self.0 = Some(Run { began, ended });
    }

    /// Returns the current run of transactions, or `None` if its last transaction ended at least [`BREAK`] before
    /// `now`.
    fn goes_on(&self, now: Instant) -> Option<Run> {
        self.0.filter(|run| now < run.ended + BREAK)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use storagebox_core::{ClaimId, Hold, Item, ItemBank, Namespace, Result};
    use storagebox_testkit::Folder;
    use tokio::task::JoinSet;

    use crate::client::{Client, Connections};
    use crate::config::Settings;
    use crate::item_bank::SqliteBank;
    use crate::schema;

    use super::*;

    /// Returns after how many transactions of length `each`, with gaps of length `between`, a break is due.
    fn before_a_break(each: Duration, between: Duration) -> Option<u32> {
        let (start, mut row) = (Instant::now(), FairnessBreak::default());
        (0..1_000).find(|number| {
            let began = start + (each + between) * *number;
            let is_long = row.is_long(began);
            row.add(began, began + each);
            is_long
        })
    }

    #[test]
    fn a_break_is_due_after_250_ms_of_transactions() {
        let micros = Duration::from_micros;
        assert_eq!(before_a_break(micros(49_950), micros(50)), Some(5));
        assert_eq!(before_a_break(micros(450), micros(50)), Some(500));
    }

    #[test]
    fn transactions_with_long_gaps_need_no_break() {
        assert_eq!(before_a_break(Duration::from_millis(50), BREAK), None);
    }

    #[tokio::test]
    async fn after_a_break_the_next_break_is_not_due_yet() {
        let mut row = FairnessBreak::default();
        let now = Instant::now();
        row.add(now - LONGEST, now);
        assert!(row.is_long(Instant::now()));
        row.give_way().await;
        assert!(!row.is_long(Instant::now()));
    }

    /// The number of callers, of which at least one always waits for the file.
    const CALLERS: usize = 32;

    /// The duration of a commit on a slow disk.
    const COMMIT: Duration = Duration::from_millis(20);

    /// Opens a bank on its own connections, as another process would.
    async fn bank(folder: &Folder) -> Result<(Arc<Client>, SqliteBank)> {
        let settings = Settings::default();
        let client = Client::new(Connections::own(&folder.path().join("store.db"), &settings), settings);
        schema::setup(&client).await?;
        let bank = SqliteBank::new(&client, &Namespace::new("namespace")?);
        Ok((client, bank))
    }

    /// Takes items in an endless loop, with many callers and slow commits, and counts the commits.
    async fn saturate(folder: &Folder, commits: Arc<AtomicUsize>) -> Result<()> {
        let (client, bank) = bank(folder).await?;
        let mut writing = client.connections().writing(|| true).await?;
        let hook = move || {
            thread::sleep(COMMIT);
            commits.fetch_add(1, Ordering::SeqCst) < usize::MAX
        };
        writing.connection().lock_handle().await.unwrap().set_commit_hook(hook);
        writing.end(true);
        let bank = Arc::new(bank);
        let takes = (0..CALLERS).map(|caller| takes(Arc::clone(&bank), caller));
        takes.collect::<JoinSet<_>>().join_all().await.into_iter().collect()
    }

    async fn takes(bank: Arc<SqliteBank>, caller: usize) -> Result<()> {
        for number in 0.. {
            let _ = bank.take(&ClaimId::new(format!("{caller}-{number}"))?, Hold::Forever).await?;
        }
        Ok(())
    }

    /// Waits for the next commit, and returns the number of commits.
    async fn next(commits: &AtomicUsize) -> usize {
        let before = commits.load(Ordering::SeqCst);
        while commits.load(Ordering::SeqCst) == before {
            tokio::time::sleep(COMMIT / 4).await;
        }
        commits.load(Ordering::SeqCst)
    }

    /// Without breaks, a call sometimes waits for more than a hundred transactions of another process.
    #[ignore = "takes a quarter of a minute; `cargo xtask prove sqlite` runs it"]
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn a_call_beside_a_busy_process_waits_for_few_transactions() -> Result<()> {
        let folder = Arc::new(Folder::new("sqlite-test").unwrap());
        let (_, own) = bank(&folder).await?;
        let items: Vec<_> = (0..20_000).map(|number| Item::new(format!("{number}"))).collect::<Result<_>>()?;
        own.add(&items).await?;
        let commits = Arc::new(AtomicUsize::new(0));
        let (there, counted) = (Arc::clone(&folder), Arc::clone(&commits));
        let neighbour = tokio::spawn(async move { saturate(&there, counted).await });
        let mut waited = vec![];
        for number in 0..40 {
            let before = next(&commits).await;
            let _ = own.take(&ClaimId::new(format!("own-{number}"))?, Hold::Forever).await?;
            waited.push(commits.load(Ordering::SeqCst) - before);
        }
        neighbour.abort();
        waited.sort_unstable();
        println!("transactions of the neighbour before each of ours: {waited:?}");
        assert!(waited[36] <= 30, "{waited:?}");
        Ok(())
    }
}
