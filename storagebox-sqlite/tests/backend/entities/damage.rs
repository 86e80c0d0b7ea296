//! Rows that another program damaged: calls that read them return `Corrupt` and change nothing.

use std::sync::Arc;

use sqlx::{AssertSqlSafe, Connection, Executor, raw_sql};
use storagebox_core::{EntityLedger, ErrorKind, Result};
use storagebox_testkit::checks::entities::{commit_of, committed, entry, key, split};
use storagebox_testkit::checks::id;

use crate::support::{Place, failed};

/// Creates an entity with an entry, and then damages the file by SQL that the checks of the tables accept.
async fn damaged(sql: &str) -> Result<(Place, Arc<dyn EntityLedger>)> {
    let place = Place::ready().await?;
    let entities = split(&place.store()?)?;
    committed(&*entities, &commit_of(&*entities, "a").await?).await?;
    let mut file = place.raw().await?;
    let sql = format!("PRAGMA ignore_check_constraints = on; {sql}");
    file.execute(raw_sql(AssertSqlSafe(sql))).await.map_err(failed)?;
    file.close().await.map_err(failed)?;
    Ok((place, entities))
}

#[tokio::test]
async fn an_unreadable_entry_is_corrupt() -> Result<()> {
    for value in [
        "later = ''",
        "later = '[1]'",
        "later = '{\"a\": 1}'",
        "later = '[\"\"]'",
        "later = CAST(x'ff' AS TEXT)",
        "chosen = ''",
        "content = zeroblob(300000)",
    ] {
        let (_place, entities) = damaged(&format!("UPDATE storagebox_entries SET {value}")).await?;
        for error in [
            entities.open(&key(), &id("a"), None).await.unwrap_err(),
            entities.register(&entry("a"), &id("b")).await.unwrap_err(),
            entities.choose(&entry("a"), &id("a")).await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{value}: {error}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn unreadable_names_and_states_are_corrupt() -> Result<()> {
    for column in ["message", "op"] {
        let (_place, entities) = damaged(&format!("UPDATE storagebox_entries SET {column} = ''")).await?;
        // The listing may skip the damaged row, because it begins after the smallest name that is possible.
        if let Err(error) = entities.pending(None, 10).await {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{column}: {error}");
        }
    }
    let (_place, entities) = damaged("UPDATE storagebox_entities SET state = zeroblob(300000)").await?;
    let error = entities.open(&key(), &id("a"), None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    Ok(())
}

/// The highest version has no next version, so a commit fails and changes nothing.
#[tokio::test]
async fn a_commit_after_the_highest_version_is_corrupt() -> Result<()> {
    let (_place, entities) = damaged("UPDATE storagebox_namespaces SET last_number = 9223372036854775807").await?;
    let before = entities.open(&key(), &id("a"), None).await?;
    let next = commit_of(&*entities, "next").await?;
    assert_eq!(entities.commit(&next).await.unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(entities.open(&key(), &id("a"), None).await?, before);
    Ok(())
}
