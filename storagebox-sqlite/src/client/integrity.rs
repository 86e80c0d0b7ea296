//! The check that all tables and indexes exist, and that no trigger was added to them.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection, query};
use storagebox_core::{Error, ErrorKind, Result};

use super::Ask;
use crate::error;
use crate::schema::MADE;

const UNFIT: &str = include_str!("../../sql/store/unfit.sql");

/// The name of the schema in error texts.
const SCHEMA: &str = "the tables";

/// Returns the names of all tables and indexes as a JSON array.
fn names() -> String {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let made = MADE.iter().flat_map(|sql| sql.split("CREATE ").skip(1));
    let name = |sql: &'static str| sql.split(|letter| !is_name(letter)).find(|word| word.starts_with("storagebox_"));
    let names: Vec<_> = made.filter_map(name).collect();
    // No name has a letter that needs escaping.
    format!(r#"["{}"]"#, names.join(r#"",""#))
}

/// Prepares the statement that finds missing tables, missing indexes, and triggers.
pub(crate) fn ask<'q>() -> Ask<'q> {
    query(UNFIT).bind(names())
}

/// Returns `Corrupt` if the statement found a missing table or index, and `Misconfigured` if it found a trigger.
pub(crate) fn check(rows: &[SqliteRow]) -> Result<()> {
    let row = rows.first().ok_or_else(|| error::unreadable(SCHEMA))?;
    let name = |column| error::read::<Option<String>>(SCHEMA, row.try_get(column));
    if let Some(missing) = name("missing")? {
        let why = "it does not exist, or it was recreated without its key; restore a complete copy of the file";
        return Err(Error::corrupt(format_args!("`{missing}`"), why).on("sqlite"));
    }
    let Some(trigger) = name("trigger_name")? else { return Ok(()) };
    let why = format!("the trigger `{trigger}` can discard a write without an error; drop it");
    Err(Error::new(ErrorKind::Misconfigured, why).on("sqlite"))
}

pub(crate) async fn check_on(connection: &mut SqliteConnection) -> Result<()> {
    check(&ask().fetch_all(connection).await.map_err(error::before_commit)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_names_contains_tables_and_indexes() {
        let names = names();
        for name in [
            "storagebox_versions",
            "storagebox_store",
            "storagebox_items",
            "storagebox_items_by_claim",
            "storagebox_records_by_end",
        ] {
            assert!(names.contains(&format!("\"{name}\"")), "{name}: {names}");
        }
    }
}
