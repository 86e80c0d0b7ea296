//! The shop, as its authors test it: in memory, with a clock that they move on.

#![cfg(feature = "memory")]
#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use std::time::Duration;

use storagebox::{Error, ManualClock, MemoryStore, RunError, Store};
use storagebox_examples::shop::{Ordered, Shop, TO_PAY};

async fn shop(clock: &ManualClock) -> Shop {
    let store = MemoryStore::builder().clock(clock.clone()).build().unwrap();
    let shop = Shop::open(Store::new(store)).await.unwrap();
    shop.deliver("delivery-1", "red-shoes", 1).await.unwrap();
    shop.offer(&["SAVE-10".into()], &["seat-1".into()]).await.unwrap();
    shop
}

#[tokio::test]
async fn a_customer_sees_one_voucher_on_every_click() {
    let shop = shop(&ManualClock::new()).await;
    assert_eq!(shop.voucher("ada@example.com").await.unwrap().as_deref(), Some("SAVE-10"));
    assert_eq!(shop.voucher("ada@example.com").await.unwrap().as_deref(), Some("SAVE-10"));
    assert_eq!(shop.voucher("bob@example.com").await.unwrap(), None);
}

#[tokio::test]
async fn an_order_that_is_sent_twice_is_placed_once() {
    let shop = shop(&ManualClock::new()).await;
    let placed = Ordered::Placed("receipt of order-1".into());
    assert_eq!(shop.order("order-1", "red-shoes").await.unwrap(), placed);
    assert_eq!(shop.order("order-1", "red-shoes").await.unwrap(), placed);
    assert_eq!(shop.order("order-2", "red-shoes").await.unwrap(), Ordered::SoldOut);
    // A delivery that is noted twice is on the shelf once.
    for _ in 0..2 {
        shop.deliver("delivery-2", "red-shoes", 1).await.unwrap();
    }
    assert!(matches!(shop.order("order-3", "red-shoes").await.unwrap(), Ordered::Placed(_)));
    assert_eq!(shop.order("order-4", "red-shoes").await.unwrap(), Ordered::SoldOut);
}

#[tokio::test]
async fn a_webhook_is_worked_on_once_and_again_if_that_failed() {
    let shop = shop(&ManualClock::new()).await;
    let failed = shop.webhook("event-1", async || Err("the mail server is down")).await;
    assert!(matches!(failed, Err(RunError::Work("the mail server is down"))));
    assert!(shop.webhook("event-1", async || Ok::<_, Error>(())).await.unwrap());
    assert!(!shop.webhook("event-1", async || Ok::<_, Error>(())).await.unwrap());
}

#[tokio::test]
async fn a_seat_that_is_not_paid_for_is_somebody_elses() {
    let clock = ManualClock::new();
    let shop = shop(&clock).await;
    assert_eq!(shop.hold_seat("visit-1").await.unwrap().as_deref(), Some("seat-1"));
    assert_eq!(shop.hold_seat("visit-2").await.unwrap(), None);
    clock.advance(TO_PAY);
    assert_eq!(shop.hold_seat("visit-2").await.unwrap().as_deref(), Some("seat-1"));
    assert_eq!(shop.pay_seat("visit-1").await.unwrap(), None);
    assert_eq!(shop.pay_seat("visit-2").await.unwrap().as_deref(), Some("seat-1"));
    clock.advance(Duration::from_secs(365 * 24 * 3_600));
    shop.clean_up().await.unwrap();
    assert_eq!(shop.hold_seat("visit-3").await.unwrap(), None);
}
