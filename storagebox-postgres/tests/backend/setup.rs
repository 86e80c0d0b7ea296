//! Setup: concurrent, without rights, dropped half-way, and with the schema of a newer library.

use std::env;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sqlx::postgres::PgPoolOptions;
use sqlx::{Connection, PgConnection, query};
use storagebox_core::{Backend, Certainty, ErrorKind, Result};
use storagebox_postgres::PostgresStore;
use storagebox_testkit::checks::calls;
use tokio::task::JoinSet;

use crate::scene::{LONG, count, drop_after, owner_url, until, with_database, with_place};
use crate::structure::{contents, exists, structure};
use crate::support::{Database, failed, run};

const URL_VARIABLE: &str = "STORAGEBOX_TEST_SETUP_URL";

/// A number of waits that no setup reaches.
const MOST_WAITS: usize = 100;

/// Returns a store whose role owns the schema, and whose sessions have the schema's name.
fn owners(database: &Database, schema: &str) -> Result<PostgresStore> {
    PostgresStore::builder().schema(schema)?.call_timeout(LONG).connect(&owner_url(database, schema))
}

/// Returns a session that holds the setup lock, so that every setup waits.
async fn gate(database: &Database) -> Result<PgConnection> {
    let mut session = PgConnection::connect(&owner_url(database, "gate")).await.map_err(failed)?;
    let lock = "SELECT pg_advisory_lock(x'73746f7265626f78'::bit(64)::bigint)";
    query(lock).execute(&mut session).await.map_err(failed)?;
    Ok(session)
}

async fn waiting(database: &Database, schema: &str) -> Result<i64> {
    let sql = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND NOT granted AND application_name =";
    count(database, &format!("{sql} '{schema}'")).await
}

#[test]
fn sixteen_tasks_and_four_processes_set_up_one_schema_at_once() -> Result<()> {
    with_database(async |database| {
        let gate = gate(database).await?;
        let mut setups = JoinSet::new();
        for _ in 0..16 {
            let store = owners(database, "crowd")?;
            setups.spawn(async move { store.setup().await });
        }
        let processes: Vec<_> = (0..4).map(|_| process(database, "crowd")).collect::<Result<_>>()?;
        until("twenty setups at the lock", async || Ok(waiting(database, "crowd").await? == 20)).await?;
        gate.close().await.map_err(failed)?;
        for outcome in setups.join_all().await {
            outcome?;
        }
        for mut process in processes {
            assert!(process.wait().map_err(failed)?.success());
        }
        is_whole(database, "crowd").await?;
        owners(database, "crowd")?.ping().await
    })
}

#[test]
fn setup_that_times_out_names_the_holder_of_the_lock() -> Result<()> {
    with_database(async |database| {
        let _gate = gate(database).await?;
        let store = PostgresStore::builder().schema("late")?.call_timeout(Duration::from_secs(2));
        let error = store.connect(&owner_url(database, "late"))?.setup().await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Contention, Certainty::NotApplied), "{error:?}");
        assert!(error.to_string().contains("(gate)"), "{error}");
        Ok(())
    })
}

/// A setup may rebuild large tables, so its statements have no timeout.
#[test]
fn setup_statement_may_outlast_the_call_timeout() -> Result<()> {
    with_database(async |database| {
        let slow = "CREATE FUNCTION public.slow() RETURNS event_trigger LANGUAGE plpgsql
                AS $$ BEGIN PERFORM pg_catalog.pg_sleep(2.2); END $$;
            CREATE EVENT TRIGGER slow ON ddl_command_end WHEN TAG IN ('CREATE SEQUENCE') EXECUTE FUNCTION public.slow()";
        run(database.owner(), slow.to_owned()).await?;
        let store = PostgresStore::builder().schema("slow")?.call_timeout(Duration::from_secs(2));
        store.connect(&owner_url(database, "slow"))?.setup().await
    })
}

#[test]
fn tables_of_data_have_the_same_autovacuum_settings() -> Result<()> {
    with_place(async |place| {
        let settings = "SELECT count(DISTINCT ARRAY(
                SELECT o FROM unnest(c.reloptions) o WHERE o LIKE 'autovacuum%' ORDER BY o
            )) FROM pg_class c
            WHERE c.relnamespace = '{schema}'::regnamespace AND c.relkind = 'r' AND c.relname NOT IN ('versions', 'store', 'namespaces')";
        assert_eq!(count(&place.database, &settings.replace("{schema}", &place.schema)).await?, 1);
        Ok(())
    })
}

fn process(database: &Database, schema: &str) -> Result<Child> {
    let timeout = LONG.as_millis();
    let url = format!("{}&schema={schema}&call_timeout={timeout}ms", owner_url(database, schema));
    let mut child = Command::new(env::current_exe().map_err(failed)?);
    child.args(["--exact", "setup::child_process_runs_setup", "--ignored"]).env(URL_VARIABLE, url);
    child.stdout(Stdio::null()).spawn().map_err(failed)
}

#[tokio::test]
#[ignore = "it is the process that another test starts"]
async fn child_process_runs_setup() -> Result<()> {
    PostgresStore::connect(&env::var(URL_VARIABLE).map_err(failed)?)?.setup().await
}

/// Checks that the schema has the same structure as after an undisturbed setup.
async fn is_whole(database: &Database, schema: &str) -> Result<()> {
    owners(database, "undisturbed")?.setup().await?;
    let expected = structure(database, "undisturbed").await?;
    let found = structure(database, schema).await?;
    assert_eq!(found, expected.iter().map(|line| line.replace("undisturbed", schema)).collect::<Vec<_>>());
    assert_eq!(count(database, &format!("SELECT count(*) FROM {schema}.versions")).await?, 3);
    Ok(())
}

#[test]
fn without_a_schema_calls_return_not_set_up_and_setup_denied() -> Result<()> {
    with_database(async |database| {
        let builder = || PostgresStore::builder().schema("later");
        let stores = [builder()?.connect(&database.url())?, builder()?.combining(false).connect(&database.url())?];
        for store in &stores {
            calls::are_refused(store, ErrorKind::NotSetUp).await?;
            assert_eq!(store.setup().await.unwrap_err().kind(), ErrorKind::Denied);
        }
        owners(database, "later")?.setup().await?;
        calls::are_refused(&stores[0], ErrorKind::Denied).await
    })
}

#[test]
fn setup_with_the_least_rights_accepts_a_complete_schema() -> Result<()> {
    with_place(async |place| {
        let store = place.builder()?.connect(&place.database.url())?;
        store.setup().await?;
        store.ping().await?;
        calls::make_all(&store, "namespace").await
    })
}

#[test]
fn a_dropped_setup_leaves_nothing_half_made() -> Result<()> {
    with_database(async |database| {
        for waits in 0..MOST_WAITS {
            let schema = format!("dropped_{waits}");
            let is_through = drop_setup_after(waits, database, &schema).await?;
            if exists(database, &schema).await? {
                is_whole(database, &schema).await?;
            }
            owners(database, &schema)?.setup().await?;
            is_whole(database, &schema).await?;
            if is_through {
                // An answer that is there before the setup waits for it gives no point to drop at. This is common on a
                // busy machine.
                assert!(waits >= 2, "a setup was dropped at only {waits} points");
                return Ok(());
            }
        }
        panic!("a setup is not through after {MOST_WAITS} points")
    })
}

/// Drops a setup at its `waits`th wait. Returns whether the setup ended before that wait.
async fn drop_setup_after(waits: usize, database: &Database, schema: &str) -> Result<bool> {
    let options = database.owner().connect_options().as_ref().clone().application_name(schema);
    let pool = PgPoolOptions::new().max_connections(2).test_before_acquire(false).connect_lazy_with(options);
    // The connections are open before the setup, so that only statements count as waits.
    drop(tokio::try_join!(pool.acquire(), pool.acquire()).map_err(failed)?);
    let store = PostgresStore::builder().schema(schema)?.from_pool(pool.clone())?;
    let through = drop_after(waits, store.setup()).await.transpose()?;
    pool.close().await;
    let sessions = format!("SELECT count(*) FROM pg_stat_activity WHERE application_name = '{schema}'");
    until("the end of its sessions", async || Ok(count(database, &sessions).await? == 0)).await?;
    Ok(through.is_some())
}

#[test]
fn schema_of_a_newer_library_is_refused_and_unchanged() -> Result<()> {
    with_database(async |database| {
        owners(database, "newer")?.setup().await?;
        run(database.owner(), "INSERT INTO newer.versions VALUES (99)".to_owned()).await?;
        let before = (structure(database, "newer").await?, contents(database, "newer").await?);
        let store = owners(database, "newer")?;
        for (call, error) in calls::errors(&store, "namespace").await? {
            assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::Unsupported), "{call}");
        }
        let after = (structure(database, "newer").await?, contents(database, "newer").await?);
        assert!(after == before, "{:?} instead of {:?}", after.1, before.1);
        Ok(())
    })
}

/// PostgreSQL keeps every text unchanged only in a database whose encoding is UTF-8.
#[test]
fn a_database_of_another_encoding_is_refused() -> Result<()> {
    with_database(async |database| {
        let name = format!("{}_latin", database.role());
        let sql = format!("CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
        run(database.owner(), sql).await?;
        let url = owner_url(database, "latin").replace(&format!("/{}?", database.role()), &format!("/{name}?"));
        let refused = PostgresStore::connect(&url)?.setup().await.unwrap_err();
        run(database.owner(), format!("DROP DATABASE {name} WITH (FORCE)")).await?;
        assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
        Ok(())
    })
}
