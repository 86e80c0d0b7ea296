//! The cost of a store's calls: their round trips, which a proxy counts, or another count.

use std::ops::Range;
use std::sync::Arc;

use storagebox_core::{Backend, DedupId, DedupRepo, Item, ItemBank, OpId, Payload, Recorded, Result, Retention};
use tokio::task::JoinSet;

use super::calls;

/// A store, and the cost of its calls.
#[allow(missing_debug_implementations, reason = "a function shows nothing")]
pub struct Metered {
    /// The store whose calls are counted.
    pub store: Arc<dyn Backend>,
    /// The name and the cost of each call.
    pub noted: Vec<(String, usize)>,
    count: Box<dyn Fn() -> usize + Send + Sync>,
}

impl Metered {
    /// Creates a meter with no noted calls. `count` returns the cost of all calls so far.
    pub fn new(store: impl Backend, count: impl Fn() -> usize + Send + Sync + 'static) -> Self {
        Self { store: Arc::new(store), noted: vec![], count: Box::new(count) }
    }

    /// Returns the answer of a call and its cost.
    pub async fn cost_of<T>(&self, made: impl Future<Output = Result<T>>) -> Result<(T, usize)> {
        let before = (self.count)();
        let answer = made.await?;
        Ok((answer, (self.count)() - before))
    }

    /// Makes every call of every part, with ids of this name, and notes its cost.
    pub async fn every_call(&mut self, id: &str) -> Result<()> {
        for call in calls::all(&*self.store, "namespace", id)? {
            let ((), cost) = self.cost_of(call.make()).await?;
            self.noted.push((call.name, cost));
        }
        Ok(())
    }

    /// Makes the calls of the store itself, and notes their costs.
    pub async fn ping_and_setup(&mut self) -> Result<()> {
        let (((), ping), ((), setup)) =
            (self.cost_of(self.store.ping()).await?, self.cost_of(self.store.setup()).await?);
        self.noted.extend([("ping".to_owned(), ping), ("setup".to_owned(), setup)]);
        Ok(())
    }

    /// Returns the cost of adding this many items to a bank that has one.
    pub async fn cost_of_adding(&self, count: usize) -> Result<usize> {
        let bank = self.store.item_bank(&"namespace".parse()?)?;
        bank.add(&[Item::new("warm")?]).await?;
        let many = (0..count).map(|number| Item::new(format!("{number}"))).collect::<Result<Vec<_>>>()?;
        Ok(self.cost_of(bank.add(&many)).await?.1)
    }

    /// Checks that each noted call cost `1`, and the calls with these names `0`.
    #[track_caller]
    pub fn assert_one_each_but(&self, free: &[&str]) {
        let is_wrong = |(call, cost): &&(String, usize)| *cost != usize::from(!free.contains(&call.as_str()));
        let wrong: Vec<_> = self.noted.iter().filter(is_wrong).collect();
        assert!(
            wrong.is_empty() && self.noted.len() >= 43,
            "{}: {wrong:?} of {}",
            self.store.backend(),
            self.noted.len()
        );
    }
}

/// Makes a record of each of these numbers, all at once.
pub async fn remember_at_once(records: &Arc<dyn DedupRepo>, numbers: Range<usize>) -> Result<()> {
    let mut callers = JoinSet::new();
    for number in numbers {
        let (records, id) = (Arc::clone(records), number.to_string());
        callers.spawn(async move {
            let (key, value, op) = (DedupId::new(&*id)?, Payload::try_from(&*id)?, OpId::new("op")?);
            let recorded = records.record(&key, &value, &op, Retention::Forever).await?;
            assert!(matches!(recorded, Recorded::New(_)), "{id}: {recorded:?}");
            Ok(())
        });
    }
    callers.join_all().await.into_iter().collect()
}
