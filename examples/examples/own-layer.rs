//! A custom layer, in some twenty lines: it sees each attempt of each call, and reports those that were slow or failed.

use std::time::Duration;

use storagebox::layer::{Answered, Call, Layer, Next};
use storagebox::time::{Timer, TokioTimer};
use storagebox::{Result, Store, Taken, async_trait};

#[derive(Debug)]
struct Slow(Duration);

#[async_trait]
impl Layer for Slow {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        let begun = TokioTimer.now();
        let answer = next.call().await;
        let (part, operation, took) = (call.part, call.operation, TokioTimer.now() - begun);
        match &answer {
            Err(error) => println!("{part} {operation} failed after {took:?}: {error}"),
            Ok(answered) if answered.outcome() == Some(&Taken::Empty) => println!("{part}: nothing is left"),
            Ok(_) if took >= self.0 => println!("{part} {operation} took {took:?}"),
            Ok(_) => {}
        }
        answer
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
