//! The memory backend's rows.

mod prototype;

use std::sync::Arc;

use storagebox::bank::Hold;
use storagebox::memory::MemoryBank;
use storagebox::values::{ClaimId, Item, Namespace};
use storagebox::{MemoryStore, Taken, parts::ItemBank};

use crate::error::{Failure, Result};
use crate::row::{Load, Prepared, Row, Side, Target, Work};
use crate::rows::filled::{Filled, expect_new};

use prototype::Prototype;

const GUESS: usize = 20_000;

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = vec![cost_of_a_call()];
    rows.extend([1, 2, 16, 64].map(cost_of_the_promises));
    rows
}

/// Compares a take through `dyn ItemBank` to the same step without the namespace, the span and the dynamic call.
fn cost_of_a_call() -> Row {
    Row {
        id: "P1",
        op: "take through dyn, spans on",
        backend: "memory",
        concurrency: 1,
        guess: GUESS,
        meter: None,
        target: Target { extra_cpu: Some(3.0), ..Target::ratio(0.9) },
        ours: Side::new(through_the_library),
        floor: Side::new(without_futures),
    }
}

/// Compares a take with the library to a take from a map and a queue, which only assign an item to each id.
fn cost_of_the_promises(concurrency: usize) -> Row {
    Row {
        id: "P11",
        op: "take",
        backend: "memory",
        concurrency,
        guess: GUESS,
        meter: None,
        target: Target { rate: Some(1e6), ..Target::ratio(0.9) },
        ours: Side::new(through_the_library),
        floor: Side::new(bare_stripes),
    }
}

pub(crate) fn counted() -> Vec<Row> {
    let ours = Side::new(by_a_handle);
    vec![Row { id: "P18", op: "take by a handle", target: Target::ratio(0.0), ours, ..cost_of_a_call() }]
}

async fn by_a_handle(load: Load) -> Result<Prepared> {
    let filled = Filled::new(MemoryStore::new(), 0)?;
    filled.refill(load).await?;
    filled.takes_by_handle(load)
}

async fn through_the_library(load: Load) -> Result<Prepared> {
    let bank: Arc<dyn ItemBank> = filled_bank(load).await?;
    prepared(load, &bank, |bank, ids| async move {
        for id in ids.iter() {
            expect_new(&bank.take(id, Hold::Forever).await?)?;
        }
        Ok(())
    })
}

async fn without_futures(load: Load) -> Result<Prepared> {
    let bank = filled_bank(load).await?;
    prepared(load, &bank, |bank, ids| async move {
        for id in ids.iter() {
            expect_new(&bank.take_now(id, Hold::Forever)?)?;
        }
        Ok(())
    })
}

async fn bare_stripes(load: Load) -> Result<Prepared> {
    let bank = Arc::new(Prototype::filled(load.items()));
    // The prototype moves the ids into its map, whereas the library shares them.
    let mut ids = load.ids();
    let tasks = (0..load.tasks).map(|_| {
        let bank = Arc::clone(&bank);
        let ids: Vec<_> = ids.by_ref().take(load.share()).collect();
        let work = async move {
            for id in ids {
                bank.assign(id).ok_or_else(|| not_new(&Taken::Empty))?;
            }
            Ok(())
        };
        Box::pin(work) as Work
    });
    Ok(Prepared { tasks: tasks.collect(), world: Box::new(Arc::clone(&bank)) })
}

async fn filled_bank(load: Load) -> Result<Arc<MemoryBank>> {
    let bank = MemoryStore::new().memory_bank(&Namespace::new("bench")?);
    let items: Vec<_> = load.items().map(Item::new).collect::<Result<_, _>>()?;
    bank.add(&items).await?;
    Ok(bank)
}

fn prepared<B, F>(load: Load, bank: &Arc<B>, call: impl Fn(Arc<B>, Arc<[ClaimId]>) -> F) -> Result<Prepared>
where
    B: Send + Sync + ?Sized + 'static,
    F: Future<Output = Result<()>> + Send + 'static,
{
    let ids: Vec<_> = load.ids().map(ClaimId::new).collect::<Result<_, _>>()?;
    let shares: Vec<Arc<[ClaimId]>> = ids.chunks(load.share()).map(Arc::from).collect();
    let tasks = shares.iter().map(|ids| Box::pin(call(Arc::clone(bank), Arc::clone(ids))) as Work).collect();
    // The world keeps the ids, so that dropping them is not measured.
    let world = Box::new((Arc::clone(bank), shares));
    Ok(Prepared { tasks, world })
}

fn not_new(taken: &Taken) -> Failure {
    Failure::NotNew { answer: format!("{taken:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load = Load { slice: 1, calls: 10, tasks: 4 };

    fn run(work: impl Future<Output = Result<Prepared>>) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
        runtime.block_on(async {
            for task in work.await?.tasks {
                task.await?;
            }
            Ok(())
        })
    }

    #[test]
    fn both_sides_of_every_row_make_all_calls() {
        run(through_the_library(LOAD)).unwrap();
        run(without_futures(LOAD)).unwrap();
        run(bare_stripes(LOAD)).unwrap();
        run(by_a_handle(LOAD)).unwrap();
    }

    #[test]
    fn answer_without_a_new_item_is_a_failure() {
        assert!(matches!(expect_new(&Taken::Empty), Err(Failure::NotNew { .. })));
    }
}
