//! Four Python processes and four of this library empty one bank together, in the two tables of article 1's package.
//!
//! The package is the unchanged one from pip. Each process also serves every tenth id of a neighbour of the other kind.

mod process;
mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use storagebox_core::{Added, Result};
use storagebox_testkit::Folder;
use storagebox_testkit::dynamodb::Data;

use crate::support::{Articles, Table, failed, items};
use process::{Kind, Process, Tables};

const ITEMS: usize = 20_000;
/// The number of processes of each kind.
const EACH: usize = 4;
/// The number of ids per Rust process. The slower Python processes get fewer ids.
const IDS_OF_OURS: usize = 3_500;
const IDS_OF_THEIRS: usize = ITEMS / EACH - IDS_OF_OURS;
/// Each process makes `assign` calls for its own ids, and for every tenth id of another process.
const SHARED: usize = 10;
/// The number of kills, and the longest time between two of them.
const KILLS: usize = 40;
const BETWEEN: Duration = Duration::from_millis(400);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove dynamo"]
async fn python_and_rust_processes_empty_one_bank_together() -> Result<()> {
    let found = together("undisturbed", None).await?;
    assert_eq!((found.lost, found.unserved), (0, 0), "items lost and ids without one");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove dynamo"]
async fn killed_rust_processes_lose_no_item() -> Result<()> {
    let found = together("ours killed", Some(Kind::Ours)).await?;
    assert_eq!(found.kills, KILLS, "kills at work");
    assert_eq!((found.lost, found.unserved), (0, 0), "items lost and ids without one");
    Ok(())
}

/// A Python process may lose an item when it is killed, with or without this library.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove dynamo"]
async fn killed_python_processes_lose_at_most_one_item_per_kill() -> Result<()> {
    let found = together("theirs killed", Some(Kind::Theirs)).await?;
    assert_eq!(found.kills, KILLS, "kills at work");
    assert!(found.lost <= KILLS, "{} items are lost by {KILLS} kills", found.lost);
    assert_eq!(found.unserved, found.lost, "ids without an item");
    Ok(())
}

#[derive(Debug)]
struct Found {
    /// Items that are in neither table.
    lost: usize,
    unserved: usize,
    kills: usize,
}

/// Runs all processes to their end, and checks their outcomes and the tables.
async fn together(name: &str, killed: Option<Kind>) -> Result<Found> {
    let table = Table::alone(Data::InMemory).await?;
    let endpoint = format!("http://{}", table.own().expect("a server of its own").address());
    let articles = Articles::beside(&table).await?;
    let added = articles.open().await?.add(&items(ITEMS)?).await?;
    assert_eq!(added, Added { added: ITEMS as u64, already_present: 0 });
    let folder = Folder::new(&name.replace(' ', "-")).map_err(failed)?;
    let tables = Tables { endpoint, items: articles.items.clone(), records: articles.records.clone() };
    let start = Instant::now();
    let mut processes = started(&tables, folder.path())?;
    let kills = tend(&mut processes, killed).await?;
    let seconds = start.elapsed().as_secs_f64();
    let (told, by) = told(&processes)?;
    let found = Found { kills, ..judge(&articles, &told).await? };
    println!(
        "mixed, {name}: {EACH} Python and {EACH} Rust processes on dynoxide, {ITEMS} items, {seconds:.0} s: {} by \
         Python, {} by Rust; {kills} kills; {} lost, {} ids without one, no item twice, no id with two",
        by[&Kind::Theirs],
        by[&Kind::Ours],
        found.lost,
        found.unserved
    );
    articles.remove().await?;
    table.remove().await?;
    Ok(found)
}

/// Starts all processes. The two kinds alternate.
fn started(tables: &Tables, folder: &Path) -> Result<Vec<Process>> {
    let own: Vec<Vec<String>> = (0..2 * EACH).map(|number| own_ids(number).collect()).collect();
    let processes = own.iter().enumerate().map(|(number, ids)| {
        let neighbour = &own[(number + 1) % own.len()];
        let mut ids: Vec<_> = ids.iter().chain(neighbour.iter().step_by(SHARED)).cloned().collect();
        fastrand::Rng::with_seed(number as u64).shuffle(&mut ids);
        Process::start(kind(number), tables, folder, number, &ids)
    });
    processes.collect()
}

fn kind(number: usize) -> Kind {
    if number.is_multiple_of(2) { Kind::Theirs } else { Kind::Ours }
}

fn own_ids(number: usize) -> impl Iterator<Item = String> {
    let count = match kind(number) {
        Kind::Ours => IDS_OF_OURS,
        Kind::Theirs => IDS_OF_THEIRS,
    };
    (0..count).map(move |id| format!("customer-{number}-{id}"))
}

/// Kills processes of this kind at random times and restarts them, until all processes have ended. Returns the number
/// of kills.
async fn tend(processes: &mut [Process], killed: Option<Kind>) -> Result<usize> {
    let mut kills = 0;
    loop {
        let (mut any, mut victims) = (false, vec![]);
        for process in processes.iter_mut() {
            let is_at_work = process.is_at_work()?;
            any |= is_at_work;
            if is_at_work && process.has_begun() && Some(process.kind) == killed {
                victims.push(process);
            }
        }
        if !any {
            return Ok(kills);
        }
        if kills < KILLS && !victims.is_empty() {
            let victim = fastrand::usize(..victims.len());
            victims[victim].kill_and_start_again()?;
            kills += 1;
        }
        tokio::time::sleep(BETWEEN.mul_f64(fastrand::f64())).await;
    }
}

type Told = BTreeMap<String, BTreeSet<String>>;

/// Returns the outcomes of each id in all processes, and the number of outcomes of each kind of process.
fn told(processes: &[Process]) -> Result<(Told, BTreeMap<Kind, usize>)> {
    let (mut told, mut by) = (Told::new(), BTreeMap::from([(Kind::Ours, 0), (Kind::Theirs, 0)]));
    for process in processes {
        for (id, item) in process.told()? {
            told.entry(id).or_default().insert(item);
            *by.entry(process.kind).or_default() += 1;
        }
    }
    Ok((told, by))
}

/// Checks that no id got two items, that each record has the item that its id got, and that no item has two ids or is
/// both given and free.
async fn judge(articles: &Articles, told: &Told) -> Result<Found> {
    let (free, given) = (articles.free().await?, articles.given().await?);
    let mut unserved = 0;
    for (id, items) in told {
        let items: Vec<_> = items.iter().filter(|item| *item != worker::NONE).collect();
        assert!(items.len() <= 1, "{id} has {items:?}");
        match items.first() {
            Some(item) => assert_eq!(given.get(id), Some(*item), "the record of {id}"),
            None => unserved += usize::from(!given.contains_key(id)),
        }
    }
    let out: BTreeSet<_> = given.values().cloned().collect();
    assert_eq!(out.len(), given.len(), "items that two ids have");
    assert!(free.is_disjoint(&out), "items that were given and are free");
    assert_eq!(told.len(), ITEMS, "ids that were answered");
    assert!(free.is_empty(), "{} items are left", free.len());
    Ok(Found { lost: ITEMS - free.len() - out.len(), unserved, kills: 0 })
}
