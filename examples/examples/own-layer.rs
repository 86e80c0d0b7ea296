//! A custom layer, in some twenty lines: it sees each attempt of each call, and reports slow and failed attempts.

use std::time::Duration;

use storagebox::layer::{Call, Layer, Next, Response};
use storagebox::time::{Timer, TokioTimer};
use storagebox::{Result, Store, Taken, async_trait};

#[derive(Debug)]
struct Slow(Duration);

#[async_trait]
impl Layer for Slow {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let begun = TokioTimer.now();
        let response = next.run().await;
        let (part, operation, took) = (call.part, call.operation(), TokioTimer.now() - begun);
        match &response {
            Err(error) => println!("{part} {operation} failed after {took:?}: {error}"),
            Ok(Response::Take(Taken::Empty)) => println!("{part}: nothing is left"),
            Ok(_) if took >= self.0 => println!("{part} {operation} took {took:?}"),
            Ok(_) => {}
        }
        response
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "memory:".into());
    let store = Store::open(url).await?.layer(Slow(Duration::ZERO));
    store.setup().await?;
    let vouchers = store.bank("vouchers")?;
    vouchers.add(["SAVE-10"]).await?;
    assert!(vouchers.assign("ada").await?.item().is_some());
    assert_eq!(vouchers.assign("bob").await?, Taken::Empty);
    Ok(())
}
