//! The ratings of article 4, which arrive in any order. The newest write stays, and a deleted rating does not come
//! back.

use storagebox::ordered::OrderedOptions;
use storagebox::{Result, Store};

const MOVIE: &str = "user-1/movie-a";

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "memory:".into());
    let store = Store::open(url).await?;
    store.setup().await?;
    let ratings = store.ordered_with("ratings", OrderedOptions::sequence())?;

    // The first rating was sent twice, and its copy arrives last.
    for (rating, at) in [("3", 10), ("5", 20), ("3", 10)] {
        let written = ratings.put(MOVIE, rating).at(at).by("phone").await?;
        println!("rating {rating} of {at}: {written:?}");
    }
    let kept = ratings.get(MOVIE).await?.expect("a rating is there");
    assert_eq!(kept.value.as_bytes(), b"5");

    let _ = ratings.delete(MOVIE).at(30).by("phone").await?;
    let _ = ratings.put(MOVIE, "4").at(25).by("laptop").await?;
    println!("after the delete of 30 and a late write of 25: {:?}", ratings.get(MOVIE).await?);
    assert!(ratings.get(MOVIE).await?.is_none());
    Ok(())
}
