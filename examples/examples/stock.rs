//! 30 orders for 10 pairs of shoes, each sent twice and all at once: 10 pairs are sold, never 11.

use storagebox::{Counted, Result, Store};

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "memory:".into());
    let store = Store::open(url).await?;
    store.setup().await?;
    let stock = store.counters("stock")?;
    let _ = stock.add("red-shoes", 10).by("delivery-1").await?;

    let orders: Vec<_> = (0..60)
        .map(|message| {
            let stock = stock.clone();
            tokio::spawn(async move {
                let order = format!("order-{}", message % 30);
                stock.add("red-shoes", -1).within(0..).by(order).await
            })
        })
        .collect();
    let mut sold = 0;
    for order in orders {
        match order.await.expect("no task panics")? {
            Counted::Applied { .. } => sold += 1,
            // The order was sent twice, or the shoes are sold out.
            Counted::AlreadyApplied { .. } | Counted::OutOfBounds => {}
            refused => panic!("the order was not counted: {refused:?}"),
        }
    }
    let left = stock.value("red-shoes").await?;
    println!("sold {sold}, left {left}");
    assert_eq!((sold, left), (10, 0));
    Ok(())
}
