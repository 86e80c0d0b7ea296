//! Texts that mean something else in SQL or JSON, in every field of every part.

use sqlx::query_scalar;
use storagebox_core::{Backend, Result};
use storagebox_sqlite::SqliteStore;
use storagebox_testkit::checks::hostile::Texts;

use crate::support::{Place, failed};

const TEXTS: Texts = Texts {
    short: &[
        "'; drop table storagebox_items; --",
        "\"",
        "\"],[\"",
        "[]",
        "{\"a\":null}",
        "\\",
        "\\\\",
        "\\u0041",
        "\\\"",
        "?1",
        "$1",
        "''",
        "NULL",
        "null",
        "1",
        "1e3",
        "0x10",
        "%_*",
        "after:",
        "\u{feff}",
        "\u{2028}\u{10ffff}",
    ],
    long: &[("'", 512), ("\\", 512), ("\u{10ffff}", 128)],
};

async fn tables(place: &Place) -> Result<Vec<String>> {
    let tables = query_scalar("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY 1");
    tables.fetch_all(&mut place.raw().await?).await.map_err(failed)
}

#[tokio::test]
async fn every_text_is_kept_byte_for_byte() -> Result<()> {
    let place = Place::ready().await?;
    let (store, before) = (place.store()?, tables(&place).await?);
    TEXTS.are_kept(&store).await?;
    assert_eq!(tables(&place).await?, before);
    Ok(())
}

/// The names have a special meaning to SQLite or in a URL, and are used as plain names of files.
#[tokio::test]
async fn a_file_may_have_any_name() -> Result<()> {
    let place = Place::bare()?;
    let folder = place.path().parent().map(ToOwned::to_owned).ok_or_else(|| failed("a folder"))?;
    for name in ["file:a?mode=memory", "a b#c", "%41", "é\u{1f600}", "?vfs=none", "'\";--", "sqlite:x"] {
        let path = folder.join(name);
        SqliteStore::open(&path)?.setup().await?;
        assert!(path.is_file(), "{name}");
        let encoded: String = path.display().to_string().bytes().map(|byte| format!("%{byte:02x}")).collect();
        SqliteStore::connect(&format!("sqlite:{encoded}"))?.ping().await?;
    }
    Ok(())
}
