//! A service that is killed while it charges a customer.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

use std::time::Duration;

use storagebox::time::ManualClock;
use storagebox::{Error, MemoryStore, Ran, Result, Store};

/// Regression: a run was killed after it had charged a customer. A request with another fingerprint then recorded a
/// result for the same key.
#[tokio::test]
async fn a_killed_run_is_resumed_only_by_its_own_request() {
    let clock = ManualClock::new();
    let store = Store::new(MemoryStore::builder().clock(clock.clone()).build().unwrap());
    let (orders, lease) = (store.dedup("orders").unwrap(), Duration::from_secs(30));
    let request = async |body: &str, answer: &'static str| {
        let run = orders.run("customer-7:key", async move |_| Ok::<_, Error>(answer));
        run.lease(lease).fingerprint(body).await.unwrap()
    };
    let mut is_charged = false;
    {
        let charge = async |_| {
            is_charged = true;
            std::future::pending::<Result<&str>>().await
        };
        let killed = orders.run("customer-7:key", charge).lease(lease).fingerprint("two seats");
        tokio::select! {
            ran = killed => panic!("a charge without an end came to its end: {ran:?}"),
            () = async { for _ in 0..100 { tokio::task::yield_now().await } } => {}
        }
    }
    assert!(is_charged);
    clock.advance(lease);
    assert_eq!(request("ten seats", "sold out").await, Ran::Mismatch);
    let retry = request("two seats", "order 12").await;
    assert!(matches!(&retry, Ran::Done(order) if order.as_bytes() == b"order 12"), "{retry:?}");
    assert_eq!(request("ten seats", "sold out").await, Ran::Mismatch);
    let again = request("two seats", "twice").await;
    assert!(matches!(again, Ran::Replayed(_)), "{again:?}");
}
