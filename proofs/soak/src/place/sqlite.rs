//! A SQLite file.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, query_scalar};
use storagebox_testkit::Folder;

use crate::Failure;
use crate::size::Size;

/// Selects the names of all tables, except the tables of SQLite itself.
const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
const BYTES: &str = "SELECT (c.page_count - f.freelist_count) * s.page_size \
                     FROM pragma_page_count c, pragma_freelist_count f, pragma_page_size s";

pub(super) struct File(Folder);

impl File {
    pub(super) fn new() -> Result<Self, Failure> {
        Ok(Self(Folder::new("soak")?))
    }

    pub(super) fn url(&self) -> String {
        format!("sqlite:{}?remember=60s", self.0.path().join("soak.db").display())
    }

    pub(super) async fn size(&self) -> Result<Size, Failure> {
        let options = SqliteConnectOptions::new().filename(self.0.path().join("soak.db"));
        let mut file = options.connect().await?;
        let mut entries = 0;
        for table in query_scalar::<_, String>(TABLES).fetch_all(&mut file).await? {
            let count = format!("SELECT count(*) FROM \"{table}\"");
            entries += query_scalar::<_, i64>(AssertSqlSafe(count)).fetch_one(&mut file).await?;
        }
        let bytes: i64 = query_scalar(BYTES).fetch_one(&mut file).await?;
        Ok(Size { entries: Some(entries.unsigned_abs()), bytes: bytes.unsigned_abs() })
    }
}
