//! Rows that another program damaged: calls that read them return `Corrupt` and change nothing.

use sqlx::{AssertSqlSafe, Connection, Executor, raw_sql};
use storagebox_core::{Commit, EntityLedger, Error, ErrorKind, Result};

use super::{commit_of, committed, entry, key, message, op, split};
use crate::support::{Place, failed};

/// Runs SQL directly on the file, without the library's checks.
async fn change(place: &Place, sql: &'static str) -> Result<()> {
    let mut file = place.raw().await?;
    let sql = format!("PRAGMA ignore_check_constraints = on; {sql}");
    file.execute(raw_sql(AssertSqlSafe(sql))).await.map_err(failed)?;
    file.close().await.map_err(failed)
}

/// Returns the errors of the calls that read an entry.
async fn of_entries(entities: &dyn EntityLedger) -> Vec<Error> {
    vec![
        entities.open(&key(), &message("a"), None).await.unwrap_err(),
        entities.register(&entry("a"), &op("b")).await.unwrap_err(),
        entities.choose(&entry("a"), &op("a")).await.unwrap_err(),
    ]
}

#[tokio::test]
async fn an_entry_that_cannot_be_read_is_damage() -> Result<()> {
    for sql in [
        "UPDATE storagebox_entries SET later = ''",
        "UPDATE storagebox_entries SET later = '[1]'",
        "UPDATE storagebox_entries SET later = '{\"a\": 1}'",
        "UPDATE storagebox_entries SET later = '[\"\"]'",
        "UPDATE storagebox_entries SET later = CAST(x'ff' AS TEXT)",
        "UPDATE storagebox_entries SET chosen = ''",
        "UPDATE storagebox_entries SET content = zeroblob(300000)",
    ] {
        let place = Place::ready().await?;
        let entities = split(&place.store()?)?;
        committed(&*entities, &commit_of(&*entities, "a").await?).await?;
        change(&place, sql).await?;
        for error in of_entries(&*entities).await {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{sql}: {error}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn names_and_states_that_cannot_be_read_are_damage() -> Result<()> {
    for sql in ["UPDATE storagebox_entries SET message = ''", "UPDATE storagebox_entries SET op = ''"] {
        let place = Place::ready().await?;
        let entities = split(&place.store()?)?;
        committed(&*entities, &commit_of(&*entities, "a").await?).await?;
        change(&place, sql).await?;
        // The listing may begin behind the damaged row. If it reaches the row, it returns `Corrupt`.
        if let Err(error) = entities.pending(None, 10).await {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{sql}: {error}");
        }
    }
    let place = Place::ready().await?;
    let entities = split(&place.store()?)?;
    committed(&*entities, &commit_of(&*entities, "a").await?).await?;
    change(&place, "UPDATE storagebox_entities SET state = zeroblob(300000)").await?;
    let error = entities.open(&key(), &message("a"), None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    Ok(())
}

/// A commit fails without a change if there is no next version.
#[tokio::test]
async fn the_last_version_is_the_last() -> Result<()> {
    let place = Place::ready().await?;
    let entities = split(&place.store()?)?;
    committed(&*entities, &commit_of(&*entities, "a").await?).await?;
    change(&place, "UPDATE storagebox_namespaces SET last_number = 9223372036854775807").await?;
    let before = entities.open(&key(), &message("a"), None).await?;
    let next = Commit { attempt: op("next"), ..commit_of(&*entities, "next").await? };
    assert_eq!(entities.commit(&next).await.unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(entities.open(&key(), &message("a"), None).await?, before);
    Ok(())
}
