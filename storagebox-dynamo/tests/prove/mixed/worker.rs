//! A process of this library: takes an item for each id of a list, and writes the outcomes to a file.

use std::collections::HashSet;
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::time::Duration;

use futures_util::{TryStreamExt, stream};
use storagebox_core::Result;
use storagebox_dynamo::ArticleTables;
use tokio::time::sleep;

use crate::support::failed;

/// The environment variable with the URL of the items' table.
pub(super) const ITEMS: &str = "STORAGEBOX_WORKER_ITEMS";
pub(super) const RECORDS: &str = "STORAGEBOX_WORKER_RECORDS";
/// The environment variable with the path of the file of ids, one per line.
pub(super) const IDS: &str = "STORAGEBOX_WORKER_IDS";
/// The environment variable with the path of the file of outcomes, in lines `id<TAB>item`. A
/// restarted worker leaves out the ids that the file has.
pub(super) const TOLD: &str = "STORAGEBOX_WORKER_TOLD";

/// The word that a worker writes instead of an item, for an id that got none.
pub(super) const NONE: &str = "-";

/// The number of ids for which items are assigned at the same time.
const AT_ONCE: usize = 4;
/// The number of attempts before an id counts as an id without an item. Python workers may give an item back meanwhile.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(50);

#[tokio::test]
#[ignore = "it is a process that the test above starts"]
async fn a_worker_process() -> Result<()> {
    let told = variable(TOLD)?;
    let tables = ArticleTables::connect(&variable(ITEMS)?, &variable(RECORDS)?)?;
    let done = fs::read_to_string(&told).unwrap_or_default();
    let done: HashSet<&str> = done.lines().filter_map(|line| line.split('\t').next()).collect();
    let ids = fs::read_to_string(variable(IDS)?).map_err(failed)?;
    let out = OpenOptions::new().append(true).create(true).open(told).map_err(failed)?;
    let left = stream::iter(ids.lines().filter(|id| !done.contains(id)).map(Ok));
    left.try_for_each_concurrent(AT_ONCE, |id| serve(&tables, id, &out)).await
}

fn variable(name: &str) -> Result<String> {
    env::var(name).map_err(|error| failed(format_args!("{name}: {error}")))
}

/// Assigns an item to an id, and appends the line of the id to the file by one system call.
async fn serve(tables: &ArticleTables, id: &str, mut out: &File) -> Result<()> {
    let item = told(tables, id).await?;
    out.write_all(format!("{id}\t{item}\n").as_bytes()).map_err(failed)
}

async fn told(tables: &ArticleTables, id: &str) -> Result<String> {
    for _ in 0..TRIES {
        match tables.assign(id).await {
            Ok(taken) => {
                if let Some(item) = taken.item() {
                    return Ok(item.as_str().to_owned());
                }
            }
            Err(error) if error.is_retryable() => eprintln!("{id}: {error}"),
            Err(error) => return Err(error),
        }
        sleep(PAUSE).await;
    }
    Ok(NONE.to_owned())
}
