//! A payment is made once, however often its message comes, even if the first worker crashes during the payment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use storagebox::{Error, Payload, Ran, RunError, Store};

const INVOICE: &str = "invoice-7";

#[tokio::main]
async fn main() -> Result<(), RunError<Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "memory:".into());
    let store = Store::open(url).await?;
    store.setup().await?;
    let payments = store.dedup("payments")?;
    let paid = Arc::new(AtomicU32::new(0));

    // The first worker crashes: its future is dropped while it works, and its lease lapses.
    let never = async |_fence| std::future::pending::<Result<Payload, Error>>().await;
    let crashing = payments.run(INVOICE, never).lease(Duration::from_millis(200));
    let crash = tokio::time::timeout(Duration::from_millis(20), crashing.into_future());
    assert!(crash.await.is_err(), "the first worker never answers");

    // Ten other workers get the same message. One of them pays, and all return its result.
    let workers: Vec<_> = (0..10)
        .map(|_| {
            let (payments, paid) = (payments.clone(), Arc::clone(&paid));
            tokio::spawn(async move {
                let pay = async |_fence| {
                    paid.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, Error>("receipt 4711")
                };
                payments.run(INVOICE, pay).wait(Duration::from_secs(30)).await
            })
        })
        .collect();
    for worker in workers {
        let ran = worker.await.expect("no task panics")?;
        assert!(matches!(&ran, Ran::Done(receipt) | Ran::Replayed(receipt) if receipt.as_bytes() == b"receipt 4711"));
    }
    println!("paid {} time, answered 10 times", paid.load(Ordering::SeqCst));
    assert_eq!(paid.load(Ordering::SeqCst), 1);
    Ok(())
}
