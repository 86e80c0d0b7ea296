//! Work that is done once per id. Every later caller gets its result.

use storagebox::{Error, Ran, RunError, Store};

#[tokio::main]
async fn main() -> Result<(), RunError<Error>> {
    let payments = Store::open("memory:").await?.dedup("payments")?;
    for _ in 0..2 {
        match payments.run("invoice-7", async |_fence| Ok::<_, Error>("receipt 4711")).await? {
            Ran::Done(receipt) => println!("paid now: {} bytes", receipt.as_bytes().len()),
            Ran::Replayed(receipt) => println!("paid before: {} bytes", receipt.as_bytes().len()),
            other => println!("{other:?}"),
        }
    }
    Ok(())
}
