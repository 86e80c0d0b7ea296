//! Stock that is never oversold, with an order that is sent twice.

use storagebox::{Counted, Result, Store};

#[tokio::main]
async fn main() -> Result<()> {
    let stock = Store::open("memory:").await?.counters("stock")?;
    let _ = stock.add("red-shoes", 1).by("delivery-1").await?;
    for order in ["order-1", "order-1", "order-2"] {
        match stock.add("red-shoes", -1).within(0..).by(order).await? {
            Counted::Applied { .. } => println!("{order}: sold"),
            Counted::AlreadyApplied { .. } => println!("{order}: was sold before"),
            Counted::OutOfBounds => println!("{order}: sold out"),
            refused => println!("{order} was not counted: {refused:?}"),
        }
    }
    Ok(())
}
