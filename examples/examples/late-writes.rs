//! The ratings of article 4, arriving in every order: the newest write stays, a deleted one does not come back.

use storagebox::{BackendExt, Key, OrderedOptions, OrderedStore, OrderedStoreExt, Result, open};

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "memory:".into());
    let ratings = open(&url).await?.ordered("ratings", OrderedOptions::sequence())?;

    // The first rating is hedged: a copy of it arrives last.
    for (rating, at) in [("3", 10), ("5", 20), ("3", 10)] {
        let written = ratings.put_at("user-1/movie-a", rating, at, "phone").await?;
        println!("rating {rating} of {at}: {written:?}");
    }
    let movie = Key::new("user-1/movie-a")?;
    let kept = ratings.get(&movie).await?.expect("a rating is there");
    assert_eq!(kept.value.as_bytes(), b"5");

    let _ = ratings.delete_at("user-1/movie-a", 30, "phone").await?;
    let _ = ratings.put_at("user-1/movie-a", "4", 25, "laptop").await?;
    println!("after the delete of 30 and a late write of 25: {:?}", ratings.get(&movie).await?);
    assert!(ratings.get(&movie).await?.is_none());
    Ok(())
}
