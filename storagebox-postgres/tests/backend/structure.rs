//! The structure and the contents of a schema, read from the server's catalogue.

use sqlx::{AssertSqlSafe, query_scalar};
use storagebox_core::Result;

use crate::support::{Database, failed};

/// Lists the columns, constraints, indexes, sequences, triggers and functions of a schema, one per line.
const STRUCTURE: &str = "
    SELECT format('column %s.%s %s %s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
        a.attnotnull, l.collname, pg_get_expr(d.adbin, d.adrelid)) AS line
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_collation l ON l.oid = a.attcollation LEFT JOIN pg_attrdef d ON (d.adrelid, d.adnum) = (c.oid, a.attnum)
    WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r'
    UNION ALL SELECT format('constraint %s %s', conname, pg_get_constraintdef(oid)) FROM pg_constraint
    WHERE connamespace = $1::regnamespace AND contype <> 'n'
    UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = $1
    UNION ALL SELECT format('%s %s %s %s', relkind, relname, reloptions, relreplident) FROM pg_class
    WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'S')
    UNION ALL SELECT format('%s %s', pg_get_triggerdef(t.oid), t.tgenabled) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE c.relnamespace = $1::regnamespace AND NOT t.tgisinternal
    UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = $1::regnamespace
    ORDER BY 1";

pub(crate) async fn structure(database: &Database, schema: &str) -> Result<Vec<String>> {
    query_scalar(STRUCTURE).bind(schema).fetch_all(database.owner()).await.map_err(failed)
}

pub(crate) async fn contents(database: &Database, schema: &str) -> Result<Vec<String>> {
    let mut rows = vec![];
    for table in tables(database, schema).await? {
        let sql = format!("SELECT '{table} ' || t::text FROM {schema}.{table} t ORDER BY 1");
        let found: Vec<String> = query_scalar(AssertSqlSafe(sql)).fetch_all(database.owner()).await.map_err(failed)?;
        rows.extend(found);
    }
    Ok(rows)
}

pub(crate) async fn tables(database: &Database, schema: &str) -> Result<Vec<String>> {
    let sql = "SELECT tablename::text FROM pg_tables WHERE schemaname = $1 ORDER BY 1";
    query_scalar(sql).bind(schema).fetch_all(database.owner()).await.map_err(failed)
}

pub(crate) async fn exists(database: &Database, schema: &str) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)";
    query_scalar(sql).bind(schema).fetch_one(database.owner()).await.map_err(failed)
}
