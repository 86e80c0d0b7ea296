//! Rows that another program changed.

use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Executor, Row as _, Sqlite, SqlitePool, Value as _, ValueRef, query, query_scalar, raw_sql};
use storagebox_core::{Backend as _, Result, async_trait};
use storagebox_fuzz::Value;
use storagebox_testkit::checks::corruption::rows::{self, Cells, Row, Tables};
use tokio::runtime::Runtime;

use crate::support::{Place, failed};

#[test]
fn fuzz_row_is_read_or_refused() -> Result<()> {
    let runtime = Runtime::new().map_err(failed)?;
    let place = runtime.block_on(Place::ready())?;
    let _within = runtime.enter();
    // The rows that are restored need not be durable.
    let file = File(SqlitePool::connect_lazy_with(place.options().synchronous(SqliteSynchronous::Off)));
    let store = place.store()?;
    runtime.block_on(rows::fill(&store))?;
    rows::fuzz(&runtime, &store, &file)?;
    runtime.block_on(store.close())
}

/// Access to the tables of the file without the library.
struct File(SqlitePool);

impl File {
    async fn run(&self, sql: String) -> Result<()> {
        self.0.execute(raw_sql(AssertSqlSafe(sql))).await.map(drop).map_err(failed)
    }

    async fn texts(&self, sql: String) -> Result<Vec<String>> {
        query_scalar(AssertSqlSafe(sql)).fetch_all(&self.0).await.map_err(failed)
    }

    async fn tables(&self) -> Result<Vec<String>> {
        self.texts("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'storagebox%'".to_owned()).await
    }

    async fn columns(&self, table: &str) -> Result<Vec<String>> {
        self.texts(format!("SELECT name FROM pragma_table_info('{table}')")).await
    }

    /// Returns an SQL expression that identifies a row by all its columns.
    async fn name(&self, table: &str) -> Result<String> {
        let quoted: Vec<_> = self.columns(table).await?.iter().map(|column| format!("quote({column})")).collect();
        Ok(quoted.join("||','||"))
    }

    async fn rows(&self, table: &str) -> Result<Vec<Row>> {
        let sql = format!("SELECT {} AS whole, * FROM {table}", self.name(table).await?);
        let rows = query(AssertSqlSafe(sql)).fetch_all(&self.0).await.map_err(failed)?;
        let columns = self.columns(table).await?;
        let cells = |row: &SqliteRow| -> Result<Cells> {
            columns.iter().map(|column| Ok((column.clone(), cell(row, column)?))).collect()
        };
        let named = |row: &SqliteRow| {
            let name = row.try_get("whole").map_err(failed)?;
            Ok(Row { table: table.to_owned(), name, cells: cells(row)? })
        };
        rows.iter().map(named).collect()
    }
}

fn cell(row: &SqliteRow, column: &str) -> Result<Value> {
    let value = row.try_get_raw(column).map_err(failed)?.to_owned();
    Ok(match &*value.type_info().to_string() {
        _ if value.is_null() => Value::Nothing,
        "INTEGER" => Value::Number(value.decode()),
        "TEXT" => Value::Text(value.decode()),
        "BLOB" => Value::Bytes(value.decode()),
        _ => Value::Nothing,
    })
}

#[async_trait]
impl Tables for File {
    async fn keep(&self) -> Result<Vec<Row>> {
        let mut rows = vec![];
        for table in self.tables().await? {
            self.run(format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}")).await?;
            rows.extend(self.rows(&table).await?);
        }
        Ok(rows)
    }

    async fn put_back(&self) -> Result<()> {
        let tables = self.tables().await?;
        let back = |table: &String| format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept_{table};");
        self.run(format!("BEGIN; {} COMMIT", tables.iter().map(back).collect::<String>())).await
    }

    async fn change(&self, row: &Row, cells: &Cells) -> Result<bool> {
        let set: Vec<_> = cells.iter().map(|(column, value)| format!("{column} = {}", held(value))).collect();
        let name = self.name(&row.table).await?;
        let sql = format!("UPDATE {} SET {} WHERE {name} = ?", row.table, set.join(", "));
        let change = cells.values().fold(query(AssertSqlSafe(sql)), bound).bind(row.name.clone());
        match change.execute(&self.0).await {
            Ok(done) => Ok(done.rows_affected() == 1),
            Err(sqlx::Error::Database(_)) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    async fn contents(&self) -> Result<Vec<String>> {
        let mut contents = vec![];
        for table in self.tables().await? {
            contents.extend(self.texts(format!("SELECT hex({}) FROM {table}", self.name(&table).await?)).await?);
        }
        Ok(contents)
    }
}

/// Returns the SQL for a value. The last bit of bytes selects a blob or an invalid text.
fn held(value: &Value) -> &'static str {
    match value {
        Value::Bytes(bytes) if bytes.last().is_some_and(|byte| byte % 2 == 1) => "CAST(? AS TEXT)",
        _ => "?",
    }
}

type Change<'q> = Query<'q, Sqlite, SqliteArguments>;

fn bound<'q>(query: Change<'q>, value: &Value) -> Change<'q> {
    match value {
        Value::Truth(truth) => query.bind(*truth),
        Value::Number(number) => query.bind(*number),
        Value::Text(text) => query.bind(text.clone()),
        Value::Bytes(bytes) => query.bind(bytes.clone()),
        Value::Nothing | Value::List(_) | Value::Map(_) => query.bind(None::<i64>),
    }
}
