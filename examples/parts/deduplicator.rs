//! A different item for each id, from one of several banks.

use storagebox::{Assigned, Result, Store};

#[tokio::main]
async fn main() -> Result<()> {
    let store = Store::open("memory:").await?;
    let _ = store.bank("monday")?.add(["seat 1"]).await?;
    let _ = store.bank("tuesday")?.add(["seat 2"]).await?;
    let classes = store.deduplicator("students", ["monday", "tuesday"])?;
    for student in ["ada", "ada", "bob"] {
        match classes.assign(student, "monday").await? {
            Assigned::New { bank, item } => println!("{student}: {} on {bank}", item.as_str()),
            Assigned::Again { bank, item } => println!("{student} has {} on {bank}", item.as_str()),
            Assigned::Empty => println!("{student}: the Monday is full"),
        }
    }
    Ok(())
}
