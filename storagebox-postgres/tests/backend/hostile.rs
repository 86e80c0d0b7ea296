//! Texts that would be something else if anybody read them as SQL: in every field of every part, both ways of sending.

use storagebox_conformance::keeps_text;
use storagebox_core::{Backend, ClaimId, DedupId, DedupRepo, ErrorKind, Item, OpId, Payload, Result, Retention};
use storagebox_postgres::Statements;

use crate::scene::with_place;
use crate::structure::{structure, tables};
use crate::support::failed;

fn texts() -> Vec<String> {
    let short = [
        "'; drop table x; --",
        "') ; drop schema public cascade; --",
        "$1",
        "$$",
        "\\",
        "\\\\",
        "\\'; select 1; --",
        "\\x00",
        "''",
        "\"",
        "{\"a\",NULL}",
        "NULL",
        "null",
        "%_",
        "{schema}",
        "\u{1f600}\u{200d}\u{1f4a9}",
        "e\u{301}",
        "\u{1}\t\r\n\u{7f}",
    ];
    let long = ["'".repeat(512), "\u{1f600}".repeat(128), "\\".repeat(512)];
    short.into_iter().map(str::to_owned).chain(long).collect()
}

async fn in_every_field(statements: Statements) -> Result<()> {
    with_place(async |place| {
        let store = place.builder()?.statements(statements).connect(&place.database.url())?;
        let before = structure(&place.database, &place.schema).await?;
        for text in texts() {
            keeps_text(&store, &text).await.map_err(failed)?;
        }
        assert_eq!(structure(&place.database, &place.schema).await?, before);
        assert!(!tables(&place.database, "public").await?.contains(&"x".to_owned()));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn prepared_statements_keep_every_text_byte_for_byte() -> Result<()> {
    in_every_field(Statements::Prepared).await
}

#[tokio::test]
async fn simple_statements_keep_every_text_byte_for_byte() -> Result<()> {
    in_every_field(Statements::Simple).await
}

/// Every byte there is, as a value, and the longest one.
#[tokio::test]
async fn payloads_are_bytes() -> Result<()> {
    with_place(async |place| {
        for statements in [Statements::Prepared, Statements::Simple] {
            let store = place.builder()?.statements(statements).connect(&place.database.url())?;
            let records = store.dedup_repo(&format!("{statements:?}").parse()?)?;
            let bytes: Vec<_> = (0..256 * 1024_usize).map(|byte| byte as u8).collect();
            for value in [&bytes[..0], &bytes[..256], &bytes[..]] {
                let (id, op) = (DedupId::new(format!("{}", value.len()))?, OpId::new("op")?);
                let _ = records.record(&id, &Payload::try_from(value)?, &op, Retention::Forever).await?;
                let found = records.get(&id).await?.ok_or_else(|| failed("nothing was recorded"))?;
                assert_eq!(found.value.as_bytes(), value);
            }
        }
        Ok(())
    })
    .await
}

/// What the server could not keep never gets as far as a call.
#[test]
fn a_null_character_and_an_item_too_long_are_refused_as_values() {
    for text in ["a\0b".to_owned(), "\0".to_owned(), "x".repeat(1_025)] {
        assert_eq!(Item::new(text.as_str()).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(ClaimId::new(text.as_str()).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}
