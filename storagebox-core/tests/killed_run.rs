//! A service that is killed in the middle of a charge.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

use std::time::Duration;

use storagebox::dedup::RunOptions;
use storagebox::time::ManualClock;
use storagebox::{Error, Fingerprint, MemoryStore, Ran, Result, Store};

/// Another request with the same key found nothing in stock and settled the order; the true retry then got `Mismatch`
/// for ever, charged and without an order.
#[tokio::test]
async fn a_killed_run_is_resumed_by_its_own_request_alone() {
    let clock = ManualClock::new();
    let store = Store::new(MemoryStore::builder().clock(clock.clone()).build().unwrap());
    let (orders, lease) = (store.leases("orders").unwrap(), Duration::from_secs(30));
    let request = |body: &str| RunOptions::default().lease(lease).fingerprint(Fingerprint::new(body).unwrap());
    let (two_seats, no_stock) = (request("two seats"), request("ten seats"));
    let mut is_charged = false;
    {
        let charge = async |_| {
            is_charged = true;
            std::future::pending::<Result<&str>>().await
        };
        let killed = orders.run_with("customer-7:key", &two_seats, charge);
        tokio::select! {
            ran = killed => panic!("a charge without an end came to its end: {ran:?}"),
            () = async { for _ in 0..100 { tokio::task::yield_now().await } } => {}
        }
    }
    assert!(is_charged);
    clock.advance(lease);
    let other = orders.run_with("customer-7:key", &no_stock, async |_| Ok::<_, Error>("sold out")).await.unwrap();
    assert_eq!(other, Ran::Mismatch);
    let retry = orders.run_with("customer-7:key", &two_seats, async |_| Ok::<_, Error>("order 12")).await.unwrap();
    assert!(matches!(&retry, Ran::Done(order) if order.as_bytes() == b"order 12"), "{retry:?}");
    let other = orders.run_with("customer-7:key", &no_stock, async |_| Ok::<_, Error>("sold out")).await.unwrap();
    assert_eq!(other, Ran::Mismatch);
    let again = orders.run_with("customer-7:key", &two_seats, async |_| Ok::<_, Error>("twice")).await.unwrap();
    assert!(matches!(again, Ran::Replayed(_)), "{again:?}");
}
