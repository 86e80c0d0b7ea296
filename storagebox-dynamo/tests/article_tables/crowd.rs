//! Many concurrent calls: article 1's own numbers, and banks with fewer items than callers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use storagebox_core::{Added, Result, Taken};

use crate::scene::{Tally, assign, at_once, ensure_conserved, given, tally};
use crate::support::{Articles, items};

/// Makes one `assign` per id, all at the same time, on a bank with this number of items. Checks that no item is lost or
/// given to two ids.
async fn told(articles: &Articles, items: usize, ids: impl IntoIterator<Item = String>) -> Result<Tally> {
    let answers = at_once(&articles.filled(items).await?, ids).await?;
    ensure_conserved(articles, items, &answers).await?;
    Ok(tally(&answers))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_requests_by_twenty_customers_give_twenty_codes() -> Result<()> {
    Articles::with(async |articles| {
        let customers = (0..100).map(|request| format!("customer-{}", request % 20));
        assert_eq!(told(articles, 30, customers).await?, (20, 80, 0));
        assert_eq!(articles.given().await?.len(), 20);
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_sixty_four_tasks_gets_the_only_item() -> Result<()> {
    Articles::with(async |articles| {
        assert_eq!(told(articles, 1, (0..64).map(|task| format!("customer-{task}"))).await?, (1, 0, 63));
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_tasks_with_one_id_get_one_item() -> Result<()> {
    Articles::with(async |articles| {
        assert_eq!(told(articles, 70, (0..64).map(|_| "ada".to_owned())).await?, (1, 63, 0));
        assert_eq!(articles.free().await?.len(), 69);
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn two_separate_clients_empty_a_bank_to_the_last_item() -> Result<()> {
    Articles::with(async |articles| {
        let first = articles.filled(200).await?;
        let second = articles.open().await?;
        let ids = |client| (0..110).map(move |number| format!("{client}-{number}"));
        let (one, two) = tokio::join!(at_once(&first, ids("one")), at_once(&second, ids("two")));
        let mut answers = one?;
        answers.extend(two?);
        assert_eq!(tally(&answers), (200, 0, 20));
        assert!(articles.free().await?.is_empty());
        ensure_conserved(articles, 200, &answers).await
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_add_repeated_during_assigns_frees_no_assigned_item() -> Result<()> {
    Articles::with(async |articles| {
        let tables = articles.filled(300).await?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (loader, over) = (articles.open().await?, Arc::clone(&is_over));
        let loads = tokio::spawn(async move {
            let mut loads = 0;
            while !over.load(Ordering::SeqCst) {
                assert_eq!(loader.add(&items(300)?).await?, Added { added: 0, already_present: 300 });
                loads += 1;
            }
            Ok::<_, storagebox_core::Error>(loads)
        });
        let mut answers = vec![];
        for wave in 0..10 {
            answers.extend(at_once(&tables, (0..25).map(|task| format!("customer-{wave}-{task}"))).await?);
        }
        is_over.store(true, Ordering::SeqCst);
        let loads = loads.await.expect("the loader")?;
        assert!(loads > 1, "{loads} loads met the takers");
        assert_eq!(tally(&answers), (250, 0, 0));
        ensure_conserved(articles, 300, &answers).await
    })
    .await
}

#[tokio::test]
async fn an_item_that_one_client_assigned_is_seen_by_another_client() -> Result<()> {
    Articles::with(async |articles| {
        let tables = articles.filled(3).await?;
        assert_eq!(given(&tables, "ada").await?, None);
        let item = assign(&tables, "ada").await?;
        let other = articles.open().await?;
        assert_eq!(given(&other, "ada").await?, Some(item.clone()));
        assert!(matches!(other.assign("ada").await?, Taken::Again(held) if held.item == item));
        let counts = other.counts().await?;
        assert_eq!((counts.free, counts.held, counts.total()), (2, 1, 3));
        Ok(())
    })
    .await
}
