//! The role with the least rights may call the functions and nothing else, and no other role may call them.

use sqlx::{AssertSqlSafe, query_scalar};
use storagebox_core::Result;

use crate::scene::with_place;
use crate::support::{Database, Place, failed, run};

/// Selects the rights that a role ($2) has directly on the tables and sequences of a schema ($1).
const ON_TABLES: &str = "
    SELECT format('%s %s', privilege, c.relname) FROM pg_class c,
        unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) privilege
    WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'v') AND has_table_privilege($2, c.oid, privilege)
    UNION ALL
    SELECT format('%s %s', privilege, c.relname) FROM pg_class c, unnest('{USAGE,SELECT,UPDATE}'::text[]) privilege
    WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'S' AND has_sequence_privilege($2, c.oid, privilege)
    ORDER BY 1";

/// Selects the functions of a schema ($1) that a role ($2) may call.
const ON_FUNCTIONS: &str = "
    SELECT oid::regprocedure::text FROM pg_proc
    WHERE pronamespace = $1::regnamespace AND has_function_privilege($2, oid, 'EXECUTE') ORDER BY 1";

async fn may(place: &Place, sql: &'static str, role: &str) -> Result<Vec<String>> {
    let found = query_scalar(sql).bind(&place.schema).bind(role);
    found.fetch_all(place.database.owner()).await.map_err(failed)
}

#[test]
fn a_role_can_write_tables_only_through_functions() -> Result<()> {
    with_place(async |place| {
        assert_eq!(may(place, ON_TABLES, place.database.role()).await?, ["SELECT store", "SELECT versions"]);
        Ok(())
    })
}

#[test]
fn role_without_a_grant_can_call_no_function() -> Result<()> {
    with_place(async |place| {
        assert_eq!(may(place, ON_FUNCTIONS, "public").await?, Vec::<String>::new());
        assert!(may(place, ON_FUNCTIONS, place.database.role()).await?.len() > 40);
        Ok(())
    })
}

/// Creates a table and a function as the schema's owner, as a later version would.
const LATER: &str = "
    CREATE TABLE {schema}.later (number bigint);
    CREATE FUNCTION {schema}.later() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS 'INSERT INTO {schema}.later VALUES (7) RETURNING number'";

#[test]
fn grants_cover_the_functions_of_a_later_version() -> Result<()> {
    with_place(async |place| {
        let (schema, role) = (&place.schema, place.database.role());
        run(place.database.owner(), LATER.replace("{schema}", schema)).await?;
        assert_eq!(may(place, ON_TABLES, role).await?, ["SELECT store", "SELECT versions"]);
        assert_eq!(as_role(&place.database, &format!("SELECT {schema}.later()")).await?, 7);
        Ok(())
    })
}

async fn as_role(database: &Database, sql: &str) -> Result<i64> {
    let mut session = database.owner().begin().await.map_err(failed)?;
    let become_role = format!("SET LOCAL ROLE {}", database.role());
    sqlx::raw_sql(AssertSqlSafe(become_role)).execute(&mut *session).await.map_err(failed)?;
    query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(&mut *session).await.map_err(failed)
}
