//! The SQLite backend's rows.

mod file;
mod load;
mod start;

use crate::row::{Row, Side, Target};
use crate::rows::side::side;

use file::Bank;

pub(crate) fn rows() -> Vec<Row> {
    vec![load(), start()]
}

/// Compares one call of `add` to the same statements without the library.
fn load() -> Row {
    let ours = over_all_slices(0, |bank, load| async move { load::ours(&bank, load) });
    let floor = over_all_slices(0, |bank, load| async move { load::plain(&bank, load) });
    let (target, guess) = (Target::ratio(0.9), 20_000);
    Row { guess, ..row("P12", "add, in items", target, ours, floor) }
}

/// Compares two ways to open a file and take an item: with the library, and with a plain connection.
fn start() -> Row {
    let ours = over_all_slices(1_000_000, |bank, load| async move { start::ours(&bank, load) });
    let floor = over_all_slices(1_000_000, |bank, load| async move { start::plain(&bank, load) });
    // The target is at most 1.2 times the time of the floor.
    row("P17", "open and take", Target::ratio(1.0 / 1.2), ours, floor)
}

/// Returns the row of the table of counts, which compares a take through a handle to a direct call of `ItemBank::take`.
pub(crate) fn counted() -> Vec<Row> {
    let ours = over_all_slices(0, |bank, load| async move {
        bank.filled.refill(load).await?;
        bank.filled.takes_by_handle(load)
    });
    let floor = over_all_slices(0, |bank, load| async move {
        bank.filled.refill(load).await?;
        bank.filled.takes(load)
    });
    vec![row("P18", "take by a handle, on top of the part", Target::ratio(0.0), ours, floor)]
}

fn over_all_slices<P>(
    items: usize,
    prepare: impl Fn(std::sync::Arc<Bank>, crate::row::Load) -> P + Send + Sync + 'static,
) -> Side
where
    P: Future<Output = crate::error::Result<crate::row::Prepared>> + Send + 'static,
{
    side(&(), move |()| Bank::new(items), prepare)
}

fn row(id: &'static str, op: &'static str, target: Target, ours: Side, floor: Side) -> Row {
    Row { id, op, backend: "sqlite", concurrency: 1, guess: 100, meter: None, target, ours, floor }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;
    use crate::row::Load;

    const LOAD: Load = Load { slice: 1, calls: 20, tasks: 1 };

    /// A call fails if its answer is wrong.
    #[test]
    fn both_sides_of_every_row_make_all_calls() {
        let sides = [
            over_all_slices(0, |bank, load| async move { load::ours(&bank, load) }),
            over_all_slices(0, |bank, load| async move { load::plain(&bank, load) }),
            over_all_slices(100, |bank, load| async move { start::ours(&bank, load) }),
            over_all_slices(100, |bank, load| async move { start::plain(&bank, load) }),
        ];
        let counted = counted().into_iter().flat_map(|row| [row.ours, row.floor]);
        Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
            for side in sides.into_iter().chain(counted) {
                for task in side.prepare(LOAD).await.unwrap().tasks {
                    task.await.unwrap();
                }
            }
        });
    }
}
