//! Texts that would mean something else if they were read as SQL: in every field of every part, with both kinds of
//! statements.

use storagebox_core::Result;
use storagebox_postgres::Statements;
use storagebox_testkit::checks::hostile::Texts;

use crate::scene::with_place;
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

#[test]
fn both_kinds_of_statements_keep_every_text_byte_for_byte() -> Result<()> {
    for statements in [Statements::Prepared, Statements::Simple] {
        with_place(async |place| {
            let store = place.builder()?.statements(statements).connect(&place.database.url())?;
            let before = structure(&place.database, &place.schema).await?;
            TEXTS.are_kept(&store).await?;
            assert_eq!(structure(&place.database, &place.schema).await?, before);
            assert!(!tables(&place.database, "public").await?.contains(&"x".to_owned()));
            Ok(())
        })?;
    }
    Ok(())
}
