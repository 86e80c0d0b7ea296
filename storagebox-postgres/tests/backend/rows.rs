//! Rows that were changed without the library.

use std::collections::BTreeMap;

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row as _, query, query_as};
use storagebox_core::{Error, Result, async_trait};
use storagebox_fuzz::Value;
use storagebox_testkit::checks::corruption::rows::{self, Cells, Row, Tables};
use tokio::runtime::Runtime;

use crate::structure::{contents, tables};
use crate::support::{Database, Place, failed, run};

#[test]
fn any_row_is_read_or_refused_without_a_panic() -> Result<()> {
    let runtime = Runtime::new().map_err(failed)?;
    let (database, place) = runtime.block_on(async {
        let database = Database::shared().await?;
        let place = database.place().await?;
        Ok::<_, Error>((database, place))
    })?;
    let _within = runtime.enter();
    let store = place.builder()?.connect(&place.url_at(database.server()))?;
    runtime.block_on(rows::fill(&store))?;
    let schema = runtime.block_on(Schema::of(&place))?;
    rows::fuzz(&runtime, &store, &schema)?;
    runtime.block_on(database.remove())
}

type Columns = Vec<(String, String)>;

struct Schema<'a> {
    place: &'a Place,
    tables: BTreeMap<String, Columns>,
}

impl<'a> Schema<'a> {
    async fn of(place: &'a Place) -> Result<Self> {
        let mut columns = BTreeMap::new();
        for table in tables(&place.database, &place.schema).await? {
            let found = columns_of(place, &table).await?;
            columns.insert(table, found);
        }
        Ok(Self { place, tables: columns })
    }

    async fn rows(&self, table: &str, columns: &Columns) -> Result<Vec<Row>> {
        let shown: Vec<_> = columns.iter().map(|(column, of)| shown(column, of)).collect();
        let sql = format!("SELECT t::text, {} FROM {}.{table} t", shown.join(", "), self.place.schema);
        let rows = query(AssertSqlSafe(sql)).fetch_all(self.place.database.owner()).await.map_err(failed)?;
        let read = |row: &PgRow| {
            let cell = |(at, (column, of)): (usize, &(String, String))| {
                let text = row.try_get::<Option<String>, _>(at + 1).map_err(failed)?;
                Ok((column.clone(), value(text, of)))
            };
            let cells = columns.iter().enumerate().map(cell).collect::<Result<Cells>>()?;
            Ok(Row { table: table.to_owned(), name: row.try_get(0).map_err(failed)?, cells })
        };
        rows.iter().map(read).collect()
    }
}

async fn columns_of(place: &Place, table: &str) -> Result<Columns> {
    let sql = "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute
        WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum";
    let found = query_as(sql).bind(format!("{}.{table}", place.schema));
    found.fetch_all(place.database.owner()).await.map_err(failed)
}

const MOMENT: &str = "timestamp with time zone";

/// Returns the SQL that converts a column's value to text. Converts a finite time to microseconds since 1970.
fn shown(column: &str, of: &str) -> String {
    match of {
        MOMENT => format!(
            "CASE WHEN isfinite({column}) THEN (extract(epoch FROM {column}) * 1e6)::bigint::text ELSE {column}::text END"
        ),
        "bytea" => format!("encode({column}, 'hex')"),
        _ => format!("{column}::text"),
    }
}

fn value(text: Option<String>, of: &str) -> Value {
    match (text, of) {
        (None, _) => Value::Nothing,
        (Some(text), "bytea") => Value::Bytes(text.into_bytes()),
        (Some(text), _) => text.parse().map_or_else(|_| Value::Text(text), Value::Number),
    }
}

/// Returns the SQL that converts this argument, which is a text, to the type `of`.
fn held(argument: usize, of: &str) -> String {
    match of {
        MOMENT => format!(
            "CASE WHEN ${argument}::text ~ '^-?\\d+$' THEN timestamptz 'epoch' + ${argument}::text::bigint * interval '1 microsecond' \
             ELSE ${argument}::text::timestamptz END"
        ),
        "bytea" => format!("convert_to(${argument}::text, 'UTF8')"),
        _ => format!("${argument}::text::{of}"),
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Truth(truth) => Some(truth.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Text(text) => Some(text.clone()),
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::Nothing | Value::List(_) | Value::Map(_) => None,
    }
}

#[async_trait]
impl Tables for Schema<'_> {
    async fn keep(&self) -> Result<Vec<Row>> {
        let (schema, mut rows) = (&self.place.schema, vec![]);
        for (table, columns) in &self.tables {
            run(self.place.database.owner(), format!("CREATE TABLE kept_{table} AS TABLE {schema}.{table}")).await?;
            rows.extend(self.rows(table, columns).await?);
        }
        Ok(rows)
    }

    /// Restores the tables that have changed.
    async fn put_back(&self) -> Result<()> {
        let schema = &self.place.schema;
        let back = |table: &String| {
            format!(
                "IF EXISTS (TABLE {schema}.{table} EXCEPT ALL TABLE kept_{table}) OR EXISTS (TABLE kept_{table} EXCEPT ALL TABLE {schema}.{table})
                 THEN DELETE FROM {schema}.{table}; INSERT INTO {schema}.{table} TABLE kept_{table}; END IF;"
            )
        };
        let all: String = self.tables.keys().map(back).collect();
        run(self.place.database.owner(), format!("DO $do$ BEGIN {all} END $do$")).await
    }

    async fn change(&self, row: &Row, cells: &Cells) -> Result<bool> {
        let of = |column: &String| self.tables[&row.table].iter().find(|(name, _)| name == column).map(|(_, of)| of);
        let set = |(number, column): (usize, &String)| {
            format!("{column} = {}", held(number + 1, of(column).map_or("text", String::as_str)))
        };
        let set: Vec<_> = cells.keys().enumerate().map(set).collect();
        let named = set.len() + 1;
        let sql =
            format!("UPDATE {}.{} t SET {} WHERE t::text = ${named}", self.place.schema, row.table, set.join(", "));
        let change = cells.values().fold(query(AssertSqlSafe(sql)), |query, value| query.bind(text(value)));
        match change.bind(row.name.clone()).execute(self.place.database.owner()).await {
            Ok(done) => Ok(done.rows_affected() == 1),
            Err(sqlx::Error::Database(_)) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    async fn contents(&self) -> Result<Vec<String>> {
        contents(&self.place.database, &self.place.schema).await
    }
}
