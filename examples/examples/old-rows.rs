//! The rows of article 4, which are years old. A namespace with default options refuses them as too old, and a
//! namespace with other options accepts them.

use std::time::Duration;

use storagebox::ordered::OrderedOptions;
use storagebox::{OrderedValues, Result, Store, Written};

const ROWS: [(&str, &str, i64); 4] = [
    ("User#1/Movie#A", "3", 1_721_769_060_000),
    ("User#1/Movie#B", "4", 1_721_768_150_000),
    ("User#2/Movie#A", "1", 1_721_767_220_000),
    ("User#2/Movie#Z", "5", 1_721_757_100_000),
];

/// The tombstone age of a namespace that accepts all rows, because even the oldest row is younger.
const FIFTY_YEARS: Duration = Duration::from_secs(50 * 365 * 24 * 3_600);

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "memory:".into());
    let store = Store::open(url).await?;
    store.setup().await?;

    let loaded = load(&store.ordered("recent-ratings")?).await?;
    println!("into a namespace of seven days: {loaded} of {} loaded", ROWS.len());
    assert_eq!(loaded, 0);

    let options = OrderedOptions { tombstone_age: FIFTY_YEARS, ..OrderedOptions::time() };
    let loaded = load(&store.ordered_with("all-ratings", options)?).await?;
    println!("into a namespace of fifty years: {loaded} of {} loaded", ROWS.len());
    assert_eq!(loaded, ROWS.len());
    Ok(())
}

/// Loads the rows, and returns the number of stored rows. Each row has its own stamp, so a second load changes nothing.
async fn load(ratings: &OrderedValues) -> Result<usize> {
    let mut loaded = 0;
    for (key, rating, at) in ROWS {
        match ratings.put(key, rating).at(at).by("import").await? {
            Written::Applied | Written::Duplicate => loaded += 1,
            Written::TooOld { horizon } => println!("{key} of {at} is older than {horizon}"),
            newer => println!("{key} of {at}: {newer:?}"),
        }
    }
    Ok(loaded)
}
