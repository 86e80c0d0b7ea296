//! Texts that would mean something else if they were read as SQL: in every field of every part, with both kinds of
//! statements.

use storagebox_core::{Backend, Result};
use storagebox_postgres::Statements;
use storagebox_testkit::checks::hostile::{self, Texts};

use crate::scene::{in_place, with_place};
use crate::structure::{structure, tables};

const TEXTS: Texts = Texts {
    short: &[
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
    ],
    long: &[("'", 512), ("\\", 512)],
};

#[tokio::test]
async fn prepared_statements_keep_every_text_byte_for_byte() -> Result<()> {
    in_every_field(Statements::Prepared).await
}

#[tokio::test]
async fn simple_statements_keep_every_text_byte_for_byte() -> Result<()> {
    in_every_field(Statements::Simple).await
}

async fn in_every_field(statements: Statements) -> Result<()> {
    in_place(async |place| {
        let store = place.builder()?.statements(statements).connect(&place.database.url())?;
        let before = structure(&place.database, &place.schema).await?;
        TEXTS.are_kept(&store).await?;
        assert_eq!(structure(&place.database, &place.schema).await?, before);
        assert!(!tables(&place.database, "public").await?.contains(&"x".to_owned()));
        Ok(())
    })
    .await
}

#[test]
fn payloads_are_bytes() -> Result<()> {
    with_place(async |place| {
        for statements in [Statements::Prepared, Statements::Simple] {
            let store = place.builder()?.statements(statements).connect(&place.database.url())?;
            hostile::payloads_are_bytes(&*store.dedup_repo(&format!("{statements:?}").parse()?)?).await?;
        }
        Ok(())
    })
}

#[test]
fn a_null_character_and_an_item_too_long_are_refused_as_values() {
    hostile::what_cannot_be_kept_is_no_value();
}
