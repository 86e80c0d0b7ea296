//! A value whose newest write wins, in whatever order the writes arrive.

use storagebox::ordered::OrderedOptions;
use storagebox::{Result, Store, Written};

#[tokio::main]
async fn main() -> Result<()> {
    let ratings = Store::open("memory:").await?.ordered_with("ratings", OrderedOptions::sequence())?;
    for (number, stars) in [(2, "5 stars"), (1, "1 star")] {
        match ratings.put("film-7", stars).at(number).by("ada").await? {
            Written::Applied => println!("{stars}: written"),
            Written::Stale { .. } => println!("{stars}: older than what is there"),
            other => println!("{stars}: {other:?}"),
        }
    }
    Ok(())
}
