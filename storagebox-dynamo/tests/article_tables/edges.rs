//! Missing tables, rows of other programs, and arguments that are refused before any request.

use storagebox_core::{ClaimId, ErrorKind, Result, Taken};
use storagebox_dynamo::{ArticleTables, DynamoStore};

use crate::scene::assign;
use crate::support::{Articles, items};

#[tokio::test]
async fn a_missing_article_table_returns_not_set_up() -> Result<()> {
    Articles::with(async |articles| {
        articles.filled(1).await?;
        let driver = articles.driver().await;
        for (items, records) in [("missing", articles.records.as_str()), (&articles.items, "missing")] {
            let tables = ArticleTables::from_client(&driver, items, records)?;
            let error = tables.assign("ada").await.expect_err("a table that is missing");
            assert_eq!(error.kind(), ErrorKind::NotSetUp, "{error}");
        }
        assert_eq!(articles.free().await?.len(), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_unreadable_row_is_corrupt_and_its_error_shows_no_item() -> Result<()> {
    Articles::with(async |articles| {
        let tables = articles.open().await?;
        articles.put(&articles.records, &[("deduplication_id", "eve"), ("item", "hunter2")]).await?;
        let long = format!("hunter2{}", "x".repeat(1_100));
        articles.put(&articles.records, &[("deduplication_id", "mal"), ("item_string", &long)]).await?;
        for id in ["eve", "mal"] {
            let error = tables.get(&ClaimId::new(id)?).await.expect_err("a record without an item");
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        }
        articles.put(&articles.items, &[("item", &long)]).await?;
        let error = tables.assign("ada").await.expect_err("an item that is too long");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        Ok(())
    })
    .await
}

/// A row of this library has one more attribute than a row of the Python package. The library and the package each read
/// both kinds of rows.
#[tokio::test]
async fn rows_of_the_python_package_are_used_like_our_own() -> Result<()> {
    Articles::with(async |articles| {
        let tables = articles.open().await?;
        articles.put(&articles.items, &[("item", "theirs"), ("added_by", "somebody")]).await?;
        let taken = tables.assign("ada").await?;
        assert!(matches!(&taken, Taken::New(held) if held.item.as_str() == "theirs"), "{taken:?}");
        articles.put(&articles.records, &[("deduplication_id", "bob"), ("item_string", "other")]).await?;
        tables.add(&items(1)?).await?;
        assert_eq!(assign(&tables, "bob").await?.as_str(), "other");
        assert_eq!(articles.free().await?.len(), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn invalid_arguments_are_refused_before_any_request() -> Result<()> {
    Articles::with(async |articles| {
        let (tables, faults) = articles.through(articles.builder()).await?;
        for id in [String::new(), "a\0b".to_owned(), "x".repeat(513)] {
            let error = tables.assign(id).await.expect_err("an id that is none");
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        }
        let driver = articles.driver().await;
        for (items, records) in [("a/b", "records"), ("items", "no table"), ("items", "")] {
            let refused = ArticleTables::from_client(&driver, items, records);
            assert_eq!(refused.expect_err("a name that is none").kind(), ErrorKind::Misconfigured);
        }
        assert_eq!(tables.add(&[]).await?, storagebox_core::Added::default());
        assert!(faults.requests().is_empty(), "{:?}", faults.requests());
        Ok(())
    })
    .await
}

#[test]
fn connect_opens_the_tables_that_its_arguments_name() -> Result<()> {
    let url = "dynamodb://eu-west-1/vouchers?endpoint=http://127.0.0.1:1&fetch_limit=7";
    let shown = format!("{:?}", ArticleTables::connect(url, "vouchers-given")?);
    assert!(shown.contains("\"vouchers\"") && shown.contains("\"vouchers-given\""), "{shown}");
    let refused = DynamoStore::builder().fetch_limit(0).connect_article_tables(url, "given");
    assert!(refused.is_ok(), "the URL's own limit comes last");
    let refused = ArticleTables::connect("dynamodb://key:secret@eu-west-1/vouchers", "given");
    assert_eq!(refused.expect_err("credentials in a URL").kind(), ErrorKind::Misconfigured);
    Ok(())
}
