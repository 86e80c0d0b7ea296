//! The query that reads the state of the schema.

use storagebox_core::{Error, Result};

use super::store_info::{FORMAT, Found, VERSION};
use super::{Client, Progress};
use crate::config::Schema;
use crate::schema::{FUNCTIONS, MIGRATIONS, TABLES};

const LOOK: &str = include_str!("../../sql/store/look.sql");
const UNFIT: &str = include_str!("../../sql/store/unfit.sql");

pub(crate) fn text_of_look(schema: &Schema) -> String {
    let functions = FUNCTIONS.concat();
    let functions = names_after(&functions, "OR REPLACE FUNCTION {schema}.").join(",");
    schema.fill(&with_tables(LOOK).replace("{functions}", &format!("{functions},is_version_{VERSION}")))
}

/// Writes the names of all tables into `sql`.
pub(crate) fn with_tables(sql: &str) -> String {
    let made = [TABLES, &MIGRATIONS.concat()].concat();
    let tables = ["TABLE {schema}.", "TABLE IF NOT EXISTS {schema}.", "SEQUENCE {schema}."];
    let tables: Vec<_> = tables.iter().flat_map(|words| names_after(&made, &format!("CREATE {words}"))).collect();
    sql.replace("{unfit}", UNFIT).replace("{tables}", &tables.join(","))
}

fn names_after<'a>(sql: &'a str, words: &str) -> Vec<&'a str> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let name = |rest: &'a str| rest.split(|letter| !is_name(letter)).next().unwrap_or_default();
    sql.split(words).skip(1).map(name).collect()
}

impl Client {
    /// Reads the state of the schema.
    pub(crate) async fn found(&self) -> Result<Found> {
        // The statement needs no right to change the schema, and calls no function that another role created.
        let row = self.query("ping", &text_of_look(self.schema())).await?;
        let found = Found::of_look(&row)?;
        FORMAT.refuse_newer(found.version.into())?;
        Ok(found)
    }

    /// Returns an error about the version if the schema has another version, and otherwise `error`.
    pub(super) async fn explained(&self, error: Error) -> Error {
        let look = text_of_look(self.schema());
        // The call's own progress does not include the schema query.
        let found = Progress::default().scope(self.query("look", &look)).await;
        match found.and_then(|row| Found::of_look(&row)).map(|found| FORMAT.check(found.version.into())) {
            Ok(Err(of_version)) => of_version.caused_by(error),
            _ => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_check_names_every_table_and_function() {
        let text = text_of_look(&Schema::default());
        for name in ["versions", "store", "claims", "numbers", "bank_take", "check_session", "is_version_3"] {
            assert!(text.contains(&format!(",{name}")) || text.contains(&format!("{{{name}")), "{name}");
        }
        assert!(!text.contains("{schema}") && !text.contains("functions}") && !text.contains("tables}"), "{text}");
    }
}
