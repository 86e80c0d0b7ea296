//! The shop, as its authors would test it: in memory, with a clock that the test advances.

#![cfg(feature = "memory")]
#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use std::time::Duration;

use storagebox::time::ManualClock;
use storagebox::{Counted, Error, MemoryStore, RunError, Store};
use storagebox_examples::shop::{Delivered, Ordered, Seat, Shop, TO_PAY, Uncounted};

async fn shop(clock: &ManualClock) -> Shop {
    let store = MemoryStore::builder().clock(clock.clone()).build().unwrap();
    let shop = Shop::open(Store::new(store)).await.unwrap();
    shop.deliver("delivery-1", "red-shoes", 1).await.unwrap();
    shop.offer(&["SAVE-10".into()], &["seat-1".into()]).await.unwrap();
    shop
}

#[tokio::test]
async fn a_customer_sees_the_same_voucher_on_every_click() {
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
    // A delivery that is added twice counts once.
    for _ in 0..2 {
        shop.deliver("delivery-2", "red-shoes", 1).await.unwrap();
    }
    assert!(matches!(shop.order("order-3", "red-shoes").await.unwrap(), Ordered::Placed(_)));
    assert_eq!(shop.order("order-4", "red-shoes").await.unwrap(), Ordered::SoldOut);
}

#[tokio::test]
async fn article_is_sold_out_only_if_its_stock_is_empty() {
    let store = Store::new(MemoryStore::new());
    let shop = Shop::open(store.clone()).await.unwrap();
    shop.deliver("delivery-1", "red-shoes", 2).await.unwrap();
    let stock = store.counters("stock").unwrap();

    // The id of the first order was used for two pairs, and the second order was cancelled.
    let two = stock.add("red-shoes", -2).within(0..).by("order-1").await.unwrap();
    assert_eq!(two, Counted::Applied { value: Some(0) });
    let _ = stock.cancel("red-shoes").by("order-2").await.unwrap();
    for (order, counted) in [("order-1", Counted::Mismatch), ("order-2", Counted::Fenced)] {
        let failed = shop.order(order, "red-shoes").await;
        assert!(matches!(failed, Err(RunError::Work(Uncounted::Refused(refused))) if refused == counted), "{failed:?}");
    }
    assert_eq!(shop.order("order-3", "red-shoes").await.unwrap(), Ordered::SoldOut);
    let failed = shop.deliver("delivery-1", "red-shoes", 3).await;
    assert!(matches!(failed, Err(Uncounted::Refused(Counted::Mismatch))), "{failed:?}");
}

#[tokio::test]
async fn order_id_cannot_be_reused_for_another_article() {
    let shop = shop(&ManualClock::new()).await;
    assert!(matches!(shop.order("order-1", "red-shoes").await.unwrap(), Ordered::Placed(_)));
    assert_eq!(shop.order("order-1", "blue-shoes").await.unwrap(), Ordered::OtherOrder);
}

#[tokio::test]
async fn webhook_that_another_process_handles_must_be_delivered_again() {
    let shop = shop(&ManualClock::new()).await;
    let (other, (begun, has_begun)) = (shop.clone(), tokio::sync::oneshot::channel());
    let working = tokio::spawn(async move {
        let work = async move || {
            begun.send(()).unwrap();
            std::future::pending::<Result<(), Error>>().await
        };
        other.webhook("event-1", work).await
    });
    has_begun.await.unwrap();
    assert_eq!(shop.webhook("event-1", async || Ok::<_, Error>(())).await.unwrap(), Delivered::InWork);
    working.abort();
}

#[tokio::test]
async fn failed_webhook_is_processed_at_the_next_delivery() {
    let shop = shop(&ManualClock::new()).await;
    let failed = shop.webhook("event-1", async || Err("the mail server is down")).await;
    assert!(matches!(failed, Err(RunError::Work("the mail server is down"))));
    assert_eq!(shop.webhook("event-1", async || Ok::<_, Error>(())).await.unwrap(), Delivered::Now);
    assert_eq!(shop.webhook("event-1", async || Ok::<_, Error>(())).await.unwrap(), Delivered::Before);
}

#[tokio::test]
async fn unpaid_seat_is_free_again_after_the_hold_ends() {
    let clock = ManualClock::new();
    let shop = shop(&clock).await;
    assert_eq!(shop.hold_seat("visit-1").await.unwrap(), Seat::Held("seat-1".into()));
    assert_eq!(shop.hold_seat("visit-2").await.unwrap(), Seat::SoldOut);
    clock.advance(TO_PAY);
    assert_eq!(shop.hold_seat("visit-2").await.unwrap(), Seat::Held("seat-1".into()));
    assert_eq!(shop.hold_seat("visit-1").await.unwrap(), Seat::TooLate);
    assert_eq!(shop.pay_seat("visit-1").await.unwrap(), None);
    assert_eq!(shop.pay_seat("visit-2").await.unwrap().as_deref(), Some("seat-1"));
    clock.advance(Duration::from_secs(365 * 24 * 3_600));
    shop.clean_up().await.unwrap();
    assert_eq!(shop.hold_seat("visit-3").await.unwrap(), Seat::SoldOut);
}
