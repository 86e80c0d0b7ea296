//! Settings and objects that an administrator adds: every call of every part is answered as before.

use storagebox_core::{Backend, Certainty, ErrorKind, Hold, ItemBank, Result};
use storagebox_postgres::{PostgresStore, Statements};
use storagebox_testkit::checks::calls;
use storagebox_testkit::postgres::{Postgres, Settings};
use tokio::task::spawn_blocking;

use crate::round_trips::{every_call, metered};
use crate::scene::{count, in_place, owner_url, with_database, with_place};
use crate::support::{Database, Place, failed, run};
use crate::upgrade::namespaces;

fn filled(place: &Place, sql: &str) -> String {
    let role = place.database.role();
    sql.replace("{schema}", &place.schema).replace("{role}", role).replace("{database}", role)
}

/// Makes every call twice with each kind of statements: as the role with the least rights in the existing schema, and
/// as the owner in a new schema.
async fn all_is_answered(place: &Place) -> Result<()> {
    for (statements, name) in [(Statements::Prepared, "prepared"), (Statements::Simple, "simple")] {
        every_call(&mut metered(place, statements, "").await?, name).await?;
        let store = namespaces::builder().schema(&format!("{}_{name}", place.schema))?.statements(statements);
        let store = store.connect(&owner_url(&place.database, "owner"))?;
        store.setup().await?;
        namespaces::fill(&store).await?;
        namespaces::check(&store).await?;
        store.maintain(100).await?;
    }
    Ok(())
}

async fn is_answered_beside(before: &str) -> Result<()> {
    in_place(async |place| {
        run(place.database.owner(), filled(place, before)).await?;
        all_is_answered(place).await
    })
    .await
}

#[tokio::test]
async fn a_publication_of_all_tables_refuses_no_call() -> Result<()> {
    is_answered_beside("CREATE PUBLICATION everything FOR ALL TABLES").await
}

/// Under a publication of all tables, the server refuses updates of a table without a replica identity.
#[test]
fn every_table_has_a_replica_identity() -> Result<()> {
    with_place(async |place| {
        let of_schema = "FROM pg_class c WHERE relnamespace = '{schema}'::regnamespace AND relkind IN ('r', 'p')";
        let named = "relreplident IN ('f', 'i') OR relreplident = 'd' AND EXISTS (
            SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indisvalid)";
        let tables = count(&place.database, &filled(place, &format!("SELECT count(*) {of_schema}"))).await?;
        let sql = filled(place, &format!("SELECT count(*) {of_schema} AND ({named})"));
        assert_eq!(count(&place.database, &sql).await?, tables);
        Ok(())
    })
}

#[test]
fn publication_of_some_columns_is_misconfigured_not_corrupt() -> Result<()> {
    with_place(async |place| {
        let store = place.builder()?.connect(&place.database.url())?;
        calls::make_all(&store, "old").await?;
        let some = "CREATE PUBLICATION parts FOR TABLE {schema}.records (namespace, id) WHERE (op <> 'x');
            ALTER TABLE {schema}.tokens REPLICA IDENTITY NOTHING; CREATE PUBLICATION other FOR TABLE {schema}.tokens";
        run(place.database.owner(), filled(place, some)).await?;
        let mut refused = 0;
        for (call, error) in calls::errors(&store, "old").await? {
            let Some(error) = error else { continue };
            let found = (error.kind(), error.certainty());
            assert_eq!(found, (ErrorKind::Misconfigured, Certainty::NotApplied), "{call}: {error}");
            refused += 1;
        }
        assert!(refused >= 5, "only {refused} calls were refused");
        Ok(())
    })
}

#[tokio::test]
async fn row_security_without_force_refuses_no_call() -> Result<()> {
    let enabled = "DO $$ DECLARE one text; BEGIN
        FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = '{schema}' AND tablename NOT IN ('versions', 'store') LOOP
            EXECUTE format('ALTER TABLE {schema}.%I ENABLE ROW LEVEL SECURITY', one);
        END LOOP; END $$";
    is_answered_beside(enabled).await
}

/// If row policies hid rows without an error, a bank would look empty, and a claim would be given a second item.
#[test]
fn forced_row_security_denies_each_call() -> Result<()> {
    with_database(async |database| {
        run(database.owner(), format!("GRANT CREATE ON DATABASE {0} TO {0}", database.role())).await?;
        for (statements, schema) in [(Statements::Prepared, "prepared"), (Statements::Simple, "simple")] {
            let store = PostgresStore::builder().schema(schema)?.statements(statements).connect(&database.url())?;
            store.setup().await?;
            calls::make_all(&store, "old").await?;
            let force = format!(
                "DO $$ DECLARE one text; BEGIN
                 FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = '{schema}' AND tablename NOT IN ('versions', 'store') LOOP
                     EXECUTE format('ALTER TABLE {schema}.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', one);
                 END LOOP; END $$"
            );
            run(database.owner(), force).await?;
            for (call, error) in calls::errors(&store, "old").await? {
                let error = error.unwrap_or_else(|| panic!("{call} was answered"));
                assert_eq!(
                    (error.kind(), error.certainty()),
                    (ErrorKind::Denied, Certainty::NotApplied),
                    "{call}: {error}"
                );
            }
        }
        Ok(())
    })
}

#[tokio::test]
async fn event_trigger_that_only_logs_commands_changes_no_answer() -> Result<()> {
    is_answered_beside(
        "CREATE TABLE public.seen (tag text);
         CREATE FUNCTION public.look_on() RETURNS event_trigger LANGUAGE plpgsql
         AS $$ BEGIN INSERT INTO public.seen VALUES (tg_tag); END $$;
         CREATE EVENT TRIGGER look_on ON ddl_command_end EXECUTE FUNCTION public.look_on()",
    )
    .await
}

#[test]
fn setup_refused_by_an_event_trigger_leaves_nothing() -> Result<()> {
    with_database(async |database| {
        let refuse = "CREATE FUNCTION public.refuse() RETURNS event_trigger LANGUAGE plpgsql
            AS $$ BEGIN RAISE EXCEPTION 'not today'; END $$;
            CREATE EVENT TRIGGER refuse ON ddl_command_end WHEN TAG IN ('CREATE SEQUENCE') EXECUTE FUNCTION public.refuse()";
        run(database.owner(), refuse.to_owned()).await?;
        let store = PostgresStore::builder().schema("refused")?.connect(&owner_url(database, "refused"))?;
        let refused = store.setup().await.unwrap_err();
        assert_eq!(
            (refused.kind(), refused.certainty()),
            (ErrorKind::Misconfigured, Certainty::NotApplied),
            "{refused}"
        );
        assert!(!crate::structure::exists(database, "refused").await?);
        run(database.owner(), "DROP EVENT TRIGGER refuse".to_owned()).await?;
        store.setup().await
    })
}

#[tokio::test]
async fn default_isolation_of_role_or_database_changes_no_answer() -> Result<()> {
    for (whose, level) in [
        ("ROLE {role}", "serializable"),
        ("DATABASE {database}", "repeatable read"),
        // A setting for all roles in all databases would affect other tests too.
        ("ROLE ALL IN DATABASE {database}", "serializable"),
    ] {
        is_answered_beside(&format!("ALTER {whose} SET default_transaction_isolation = '{level}'")).await?;
    }
    Ok(())
}

#[tokio::test]
async fn session_replication_role_replica_changes_no_answer() -> Result<()> {
    is_answered_beside("ALTER DATABASE {database} SET session_replication_role = replica").await
}

/// Settings of data formats, each with a value that is not the default.
const FORMATS: [(&str, &str); 22] = [
    ("DateStyle", "'German, DMY'"),
    ("TimeZone", "'Asia/Kathmandu'"),
    ("IntervalStyle", "'sql_standard'"),
    ("bytea_output", "'escape'"),
    ("standard_conforming_strings", "off"),
    ("backslash_quote", "off"),
    ("extra_float_digits", "-15"),
    ("array_nulls", "off"),
    ("transform_null_equals", "on"),
    ("quote_all_identifiers", "on"),
    ("client_encoding", "'LATIN1'"),
    ("search_path", "'nowhere'"),
    ("row_security", "off"),
    ("statement_timeout", "'60s'"),
    ("lock_timeout", "'1ms'"),
    ("idle_in_transaction_session_timeout", "'1ms'"),
    ("default_transaction_deferrable", "on"),
    ("plan_cache_mode", "force_custom_plan"),
    ("check_function_bodies", "off"),
    ("plpgsql.variable_conflict", "use_column"),
    ("plpgsql.extra_errors", "'all'"),
    ("client_min_messages", "'debug5'"),
];

#[tokio::test]
async fn format_and_timeout_settings_change_no_answer() -> Result<()> {
    let set = FORMATS.map(|(name, value)| format!("ALTER DATABASE {{database}} SET {name} = {value};")).concat();
    is_answered_beside(&format!("LOAD 'plpgsql'; {set}")).await
}

#[tokio::test]
async fn server_settings_change_no_answer() -> Result<()> {
    let settings = [
        ("default_transaction_isolation", "serializable"),
        ("wal_level", "logical"),
        ("bytea_output", "escape"),
        ("timezone", "Asia/Kathmandu"),
        ("log_min_duration_statement", "0"),
        ("idle_session_timeout", "60s"),
    ];
    let settings = settings.into_iter().fold(Settings::quick(), |all, (name, value)| all.with(name, value));
    let own = spawn_blocking(move || Postgres::start(&settings)).await.map_err(failed)?.map_err(failed)?;
    let database = Database::alone(own).await?;
    all_is_answered(&database.place().await?).await
}

/// If a trigger or rule dropped a take's insert of a claim without an error, the item of the claim would be lost
/// (IB-2).
#[test]
fn trigger_or_rule_that_may_drop_a_write_is_refused() -> Result<()> {
    let soft = "CREATE FUNCTION public.soft() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;";
    for beside in [
        "CREATE TRIGGER soft BEFORE INSERT ON {schema}.claims FOR EACH ROW EXECUTE FUNCTION public.soft()",
        "CREATE TRIGGER soft BEFORE DELETE ON {schema}.free_items FOR EACH ROW EXECUTE FUNCTION public.soft()",
        "CREATE TRIGGER soft BEFORE UPDATE ON {schema}.records FOR EACH ROW EXECUTE FUNCTION public.soft()",
        "CREATE RULE soft AS ON DELETE TO {schema}.tokens DO INSTEAD NOTHING",
    ] {
        with_place(async |place| {
            run(place.database.owner(), filled(place, &format!("{soft} {beside}"))).await?;
            let store = place.builder()?.connect(&place.url_at(place.database.server()))?;
            let bank = store.item_bank(&"namespace".parse()?)?;
            let take = bank.take(&"ada".parse()?, Hold::Forever).await;
            for error in [take.unwrap_err(), store.ping().await.unwrap_err(), store.setup().await.unwrap_err()] {
                let found = (error.kind(), error.certainty());
                assert_eq!(found, (ErrorKind::Misconfigured, Certainty::NotApplied), "{beside}: {error}");
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Calls that only read are refused like calls that write, because the data of a read-only server may be old.
#[test]
fn read_only_session_refuses_each_call() -> Result<()> {
    for statements in [Statements::Prepared, Statements::Simple] {
        with_place(async |place| {
            let store = place.builder()?.statements(statements).connect(&place.url_at(place.database.server()))?;
            calls::make_all(&store, "old").await?;
            run(place.database.owner(), filled(place, "ALTER ROLE {role} SET default_transaction_read_only = on"))
                .await?;
            crate::pools::end_sessions(place).await?;
            for (call, error) in calls::errors(&store, "old").await? {
                let error = error.unwrap_or_else(|| panic!("{call} was answered"));
                assert_eq!(
                    (error.kind(), error.certainty()),
                    (ErrorKind::Unavailable, Certainty::NotApplied),
                    "{call}: {error}"
                );
            }
            Ok(())
        })?;
    }
    Ok(())
}
