//! A counter that keeps each change, with its reason.

use storagebox::{Result, Store, Strategy};

#[tokio::main]
async fn main() -> Result<()> {
    let points = Store::open("memory:").await?.counters_with("points", Strategy::Ledger)?;
    let _ = points.add("ada", 30).because("order 1 was paid").by("order-1").await?;
    let _ = points.add("ada", -10).because("a part of order 1 was returned").by("refund-1").await?;
    for change in points.log("ada").all().await? {
        println!("{change:?}");
    }
    println!("{} points", points.value("ada").await?);
    Ok(())
}
