//! 100 clicks of 20 customers, all at once: 20 codes are given, and each customer sees the same code on every click.

use std::collections::{BTreeMap, BTreeSet};

use storagebox::values::Item;
use storagebox::{Result, Store};

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "memory:".into());
    let store = Store::open(url).await?;
    store.setup().await?;
    let bank = store.bank("vouchers")?;
    bank.add((0..100).map(|number| format!("SAVE-{number:03}"))).await?;

    let clicks = (0..100).map(|click| {
        let bank = bank.clone();
        tokio::spawn(async move {
            let customer = format!("customer-{}@example.com", click % 20);
            bank.assign(&customer).await.map(|taken| (customer, taken))
        })
    });
    let mut given: BTreeMap<String, BTreeSet<Item>> = BTreeMap::new();
    for click in clicks.collect::<Vec<_>>() {
        let (customer, taken) = click.await.expect("no task panics")?;
        given.entry(customer).or_default().extend(taken.item().cloned());
    }

    let codes: BTreeSet<_> = given.values().flatten().collect();
    println!("{} customers, {} codes given, {} left", given.len(), codes.len(), bank.counts().await?.free);
    assert!(given.values().all(|codes| codes.len() == 1), "a customer saw two codes");
    assert_eq!(codes.len(), 20);
    Ok(())
}
