//! Entities and their entries, E-1 to E-8: the cases that only this backend has.

mod joined;
mod kept;
mod races;

use storagebox_core::{Commit, EntityChange, Payload, Result};
use storagebox_postgres::{PostgresStore, Statements};
use storagebox_testkit::checks::entities::{self, commit_of, committed, key, split};
use storagebox_testkit::checks::{id, processor};

use crate::scene::{in_place, patient, with_place};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn racing_copies_of_a_message_take_effect_once() -> Result<()> {
    in_place(async |place| processor::racing_copies_take_effect_once([&patient(place)?, &patient(place)?]).await).await
}

#[test]
fn created_tokens_may_sort_before_or_after_the_consumed_token() -> Result<()> {
    with_place(async |place| entities::creates_tokens(&patient(place)?, &[0, 1, 6, 12_000]).await)
}

#[tokio::test]
async fn invalid_call_is_refused_without_asking_the_server() -> Result<()> {
    let nowhere = PostgresStore::connect("postgres://ann@127.0.0.1:1/none")?;
    entities::refuses_before_it_asks(&nowhere, &entities::CURSORS).await
}

/// Prepared and simple statements send arrays of attempts and large values in different ways.
#[test]
fn both_kinds_of_statements_keep_attempts_and_the_largest_values() -> Result<()> {
    for statements in [Statements::Prepared, Statements::Simple] {
        with_place(async |place| {
            let entities = split(&place.builder()?.statements(statements).connect(&place.database.url())?)?;
            let bytes: Vec<_> = (0..256 * 1024_usize).map(|byte| byte as u8).collect();
            let (state, content) = (Payload::new(bytes.clone())?, Payload::new(bytes)?);
            let (change, entry) = (EntityChange::Put(state.clone()), Some(content.clone()));
            committed(&*entities, &Commit { change, entry, ..commit_of(&*entities, "a").await? }).await?;
            let mut attempts = vec![id("a")];
            for attempt in ["se\"c,o}nd", "NULL", "la\\te"].map(id) {
                let _ = entities.register(&entities::entry("a"), &attempt).await?;
                attempts.push(attempt);
            }
            let _ = entities.choose(&entities::entry("a"), &attempts[2]).await?;
            let opened = entities.open(&key(), &id("a"), None).await?;
            let entry = opened.entry.expect("an entry");
            assert!(opened.state == Some(state) && entry.content == content);
            assert_eq!((entry.chosen.as_ref(), &entry.attempts), (Some(&attempts[2]), &attempts));
            Ok(())
        })?;
    }
    Ok(())
}
