//! Changes to the schema by other programs that no statement would report. The store finds them when it opens a
//! namespace.

use sqlx::{AssertSqlSafe, Connection, Executor, raw_sql};
use storagebox_core::{
    Backend, Certainty, ClaimId, DedupId, DedupRepo, ErrorKind, Hold, Item, ItemBank, OpId, Payload, Result, Retention,
    Taken, TokenStore,
};

use crate::support::{Place, failed};

/// Runs SQL on the file. Checks that the first call, `ping` and `setup` return an error of this kind.
async fn are_refused(done: &str, kind: ErrorKind) -> Result<()> {
    let place = Place::ready().await?;
    let mut raw = place.raw().await?;
    raw.execute(raw_sql(AssertSqlSafe(done))).await.map_err(failed)?;
    raw.close().await.map_err(failed)?;
    let store = place.store()?;
    let (records, value) = (store.dedup_repo(&"namespace".parse()?)?, Payload::try_from("value")?);
    let record = records.record(&DedupId::new("id")?, &value, &OpId::new("op")?, Retention::Forever).await;
    let get = records.get(&DedupId::new("id")?).await;
    for error in
        [record.unwrap_err(), get.unwrap_err(), store.ping().await.unwrap_err(), store.setup().await.unwrap_err()]
    {
        assert_eq!((error.kind(), error.certainty()), (kind, Certainty::NotApplied), "{done}: {error}");
    }
    Ok(())
}

/// Regression: a trigger made every caller record a new value, and a repeated operation of a counter was applied again.
#[tokio::test]
async fn a_trigger_on_a_table_of_the_store_is_refused() -> Result<()> {
    for table in ["records", "items", "counter_ops", "tokens"] {
        let ignore =
            format!("CREATE TRIGGER ignores BEFORE INSERT ON storagebox_{table} BEGIN SELECT RAISE(IGNORE); END");
        are_refused(&ignore, ErrorKind::Misconfigured).await?;
    }
    Ok(())
}

/// Regression: `setup` succeeded on a file with a missing index, and then each call asked the user to run `setup`.
#[tokio::test]
async fn a_missing_index_or_key_is_corrupt() -> Result<()> {
    for gone in [
        "DROP INDEX storagebox_items_by_claim",
        "DROP INDEX storagebox_items_free",
        "DROP TABLE storagebox_tokens",
        "CREATE TABLE copy AS SELECT * FROM storagebox_counter_ops; DROP TABLE storagebox_counter_ops;
         ALTER TABLE copy RENAME TO storagebox_counter_ops;
         CREATE INDEX storagebox_counter_ops_by_age ON storagebox_counter_ops (namespace, at);
         CREATE INDEX storagebox_counter_ops_by_key ON storagebox_counter_ops (namespace, key, at)",
    ] {
        are_refused(gone, ErrorKind::Corrupt).await?;
    }
    Ok(())
}

/// Regression: the take was made without the check, and gave the claim a second item.
#[tokio::test]
async fn a_take_that_is_the_first_call_without_the_index_of_claims_is_corrupt() -> Result<()> {
    let (place, ada) = (Place::ready().await?, ClaimId::new("ada")?);
    let bank = place.store()?.item_bank(&"namespace".parse()?)?;
    bank.add(&[Item::new("a")?, Item::new("b")?]).await?;
    let _ = bank.take(&ada, Hold::Forever).await?;
    place.raw().await?.execute("DROP INDEX storagebox_items_by_claim").await.map_err(failed)?;
    let error = place.store()?.item_bank(&"namespace".parse()?)?.take(&ada, Hold::Forever).await.unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Corrupt, Certainty::NotApplied), "{error}");
    assert_eq!(bank.counts().await?.free, 1);
    Ok(())
}

/// Regression: the take counted as the first call, and so the release was made without the check.
#[tokio::test]
async fn a_take_without_the_check_leaves_it_to_the_next_call() -> Result<()> {
    let (place, ada) = (Place::ready().await?, ClaimId::new("ada")?);
    place.store()?.item_bank(&"namespace".parse()?)?.add(&[Item::new("a")?]).await?;
    let ignores = "CREATE TRIGGER t BEFORE INSERT ON storagebox_ended_claims BEGIN SELECT RAISE(IGNORE); END";
    place.raw().await?.execute(raw_sql(ignores)).await.map_err(failed)?;
    let bank = place.store()?.item_bank(&"namespace".parse()?)?;
    assert!(matches!(bank.take(&ada, Hold::Forever).await?, Taken::New(_)));
    assert_eq!(bank.release(&ada).await.unwrap_err().kind(), ErrorKind::Misconfigured);
    Ok(())
}

/// The file also contains tables of another program.
#[tokio::test]
async fn a_trigger_on_a_table_of_another_program_is_accepted() -> Result<()> {
    let place = Place::ready().await?;
    let mut raw = place.raw().await?;
    let own = "CREATE TABLE mine (a); CREATE TRIGGER t BEFORE INSERT ON mine BEGIN SELECT RAISE(IGNORE); END";
    raw.execute(raw_sql(own)).await.map_err(failed)?;
    let store = place.store()?;
    store.ping().await?;
    store.token_store(&"namespace".parse()?)?.create_tokens(&["token".parse()?]).await.map(drop)
}
