//! A shop on one store. Every request comes twice, as from an impatient browser, and all requests come at once. With
//! `RUST_LOG=debug`, each line of the log shows its order and its call.

use storagebox::{RunError, Store};
use storagebox_examples::shop::{Ordered, Seat, Shop, Uncounted};
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> Result<(), RunError<Uncounted>> {
    tracing_subscriber::fmt().with_env_filter(EnvFilter::from_default_env()).init();
    let url = std::env::args().nth(1).unwrap_or_else(|| "memory:".into());
    let shop = Shop::open(Store::open(url).await?).await?;
    shop.deliver("delivery-1", "red-shoes", 10).await.map_err(RunError::Work)?;
    shop.offer(&names("SAVE", 20), &names("seat", 5)).await?;

    let requests: Vec<_> = (0..60)
        .map(|request| {
            let shop = shop.clone();
            tokio::spawn(async move {
                let customer = format!("customer-{}", request % 30);
                let voucher = shop.voucher(&customer).await?;
                let seat = shop.hold_seat(&customer).await?;
                let order = shop.order(&format!("order-of-{customer}"), "red-shoes").await?;
                Ok::<_, RunError<Uncounted>>((voucher, seat, order))
            })
        })
        .collect();
    let (mut placed, mut seats) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    for request in requests {
        let (_voucher, seat, order) = request.await.expect("no task panics")?;
        if let Seat::Held(seat) = seat {
            seats.insert(seat);
        }
        if let Ordered::Placed(receipt) = order {
            placed.insert(receipt);
        }
    }
    println!("{} orders placed, {} seats held", placed.len(), seats.len());
    assert_eq!((placed.len(), seats.len()), (10, 5));
    shop.clean_up().await?;
    Ok(())
}

fn names(what: &str, number: usize) -> Vec<String> {
    (1..=number).map(|number| format!("{what}-{number}")).collect()
}
