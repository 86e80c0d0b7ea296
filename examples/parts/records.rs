//! What was done for an id, remembered.

use storagebox::{Recorded, Result, Retention, Store};

#[tokio::main]
async fn main() -> Result<()> {
    let answers = Store::open("memory:").await?.records("answers")?;
    for op in ["first-try", "another-try"] {
        match answers.record("request-7", "201 Created", op, Retention::DEFAULT).await? {
            Recorded::New(_) => println!("{op}: recorded"),
            Recorded::Again(_) => println!("{op}: recorded by this operation before"),
            Recorded::Existing(entry) => println!("{op}: it was {}", String::from_utf8_lossy(entry.value.as_bytes())),
            Recorded::InFlight { .. } | Recorded::Fenced => println!("{op}: a lease is in the way"),
        }
    }
    Ok(())
}
