//! A different item for each id, and the same item on every call for that id.

use storagebox::{Result, Store, Taken};

#[tokio::main]
async fn main() -> Result<()> {
    let vouchers = Store::open("memory:").await?.bank("vouchers")?;
    let _ = vouchers.add(["SAVE-10", "SAVE-20"]).await?;
    let email = String::from("ada@example.com");
    for _ in 0..2 {
        match vouchers.assign(&email).await? {
            Taken::New(held) => println!("{email} gets {}", held.item.as_str()),
            Taken::Again(held) => println!("{email} has {}", held.item.as_str()),
            Taken::Empty => println!("sold out"),
            Taken::Ended(_) => println!("the claim has ended"),
        }
    }
    Ok(())
}
