//! Texts that would be something else if anybody read them as SQL or JSON: in every field of every part.

use sqlx::query_scalar;
use storagebox_conformance::keeps_text;
use storagebox_core::{Backend as _, ClaimId, DedupId, DedupRepo, ErrorKind, Item, OpId, Payload, Result, Retention};

use crate::support::{Place, failed};

fn texts() -> Vec<String> {
    let short = [
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
        "\u{1f600}\u{200d}\u{1f4a9}",
        "e\u{301}",
        "\u{1}\t\r\n\u{7f}",
        "\u{2028}\u{10ffff}",
    ];
    let long = ["'".repeat(512), "\u{1f600}".repeat(128), "\\".repeat(512), "\u{10ffff}".repeat(128)];
    short.into_iter().map(str::to_owned).chain(long).collect()
}

async fn tables(place: &Place) -> Result<Vec<String>> {
    let tables = query_scalar("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY 1");
    tables.fetch_all(&mut place.raw().await?).await.map_err(failed)
}

#[tokio::test]
async fn every_text_is_kept_byte_for_byte() -> Result<()> {
    let place = Place::ready().await?;
    let (store, before) = (place.store()?, tables(&place).await?);
    for text in texts() {
        keeps_text(&store, &text).await.map_err(failed)?;
    }
    assert_eq!(tables(&place).await?, before);
    Ok(())
}

/// Every byte there is, as a value, and the longest one.
#[tokio::test]
async fn payloads_are_bytes() -> Result<()> {
    let place = Place::ready().await?;
    let records = place.store()?.dedup_repo(&"namespace".parse()?)?;
    let bytes: Vec<_> = (0..256 * 1024_usize).map(|byte| byte as u8).collect();
    for value in [&bytes[..0], &bytes[..256], &bytes[..]] {
        let (id, op) = (DedupId::new(format!("{}", value.len()))?, OpId::new("op")?);
        let _ = records.record(&id, &Payload::try_from(value)?, &op, Retention::Forever).await?;
        let found = records.get(&id).await?.ok_or_else(|| failed("nothing was recorded"))?;
        assert_eq!(found.value.as_bytes(), value);
    }
    Ok(())
}

/// What a path may be called: none of it is read as anything but a name.
#[tokio::test]
async fn a_file_may_have_any_name() -> Result<()> {
    use storagebox_core::Backend;
    use storagebox_sqlite::SqliteStore;

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

#[test]
fn a_null_character_and_an_item_too_long_are_refused_as_values() {
    for text in ["a\0b".to_owned(), "\0".to_owned(), "x".repeat(1_025)] {
        assert_eq!(Item::new(text.as_str()).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(ClaimId::new(text.as_str()).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}
