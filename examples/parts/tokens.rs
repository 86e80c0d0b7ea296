//! A message that is processed once. Its producer has created a token for it in advance.

use storagebox::{Consumed, Result, Store};

#[tokio::main]
async fn main() -> Result<()> {
    let messages = Store::open("memory:").await?.tokens("messages")?;
    let _ = messages.create(["message-1", "message-2"]).await?;
    for worker in ["worker-1", "worker-2"] {
        match messages.consume("message-1").by(worker).await? {
            Consumed::Now => println!("{worker} processes it"),
            Consumed::Again => println!("{worker} has it already"),
            Consumed::AlreadyGone => println!("{worker} leaves it alone"),
        }
    }
    Ok(())
}
