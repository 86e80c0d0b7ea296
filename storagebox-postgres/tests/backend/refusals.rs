//! Refusals by the server or by other code in it, for each code and each right: certain, of the right kind, and nothing
//! is half done.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{AssertSqlSafe, query_scalar};
use storagebox_core::{
    Backend, Certainty, ClaimId, Counts, DedupId, DedupRepo, ErrorKind, Hold, Item, ItemBank, OpId, Payload, Recorded,
    Result, Retention, Taken,
};
use storagebox_postgres::{PostgresStore, Statements};
use storagebox_testkit::checks::calls;
use tokio::task::JoinSet;

use crate::scene::{LONG, count, owner_url, patient, with_database, with_place};
use crate::support::{Place, failed, run};

/// A trigger that raises the row's id as the SQLSTATE. If the id has a sequence, only the first two inserts fail,
/// because a rollback does not reset a sequence.
const FAILS: &str = "CREATE FUNCTION {schema}.fail() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE times regclass := pg_catalog.to_regclass(pg_catalog.format('{schema}.%I', 'times_' || NEW.id));
        BEGIN
            IF times IS NOT NULL AND pg_catalog.nextval(times) > 2 THEN RETURN NULL; END IF;
            RAISE EXCEPTION 'not today' USING ERRCODE = NEW.id;
        END $$;
    CREATE TRIGGER fail AFTER INSERT ON {schema}.records FOR EACH ROW EXECUTE FUNCTION {schema}.fail()";

/// SQLSTATEs that a statement can raise, with the kind of error that callers get. There is one SQLSTATE for each entry of
/// the table in `error/codes.rs`.
const CODES: &[(ErrorKind, &str)] = &[
    (ErrorKind::Corrupt, "SB001 21000 22003 23514 40002 42703 XX001 XX002"),
    (ErrorKind::Unsupported, "SB002 0A000"),
    (ErrorKind::Unavailable, "25006 25P03 53100 53200 54000 57P03 57P05"),
    (ErrorKind::Throttled, "53300"),
    (ErrorKind::Denied, "28000 42501"),
    (ErrorKind::NotSetUp, "3D000 3F000 42883 42P01"),
    (
        ErrorKind::Misconfigured,
        "09000 0F000 10608 20000 23503 23P01 26000 27000 2BP01 2F003 34000 39004 3B001 42P05 42P17 44000 54001 55000 55P02 F0000 P0001 P0003",
    ),
];

/// The SQLSTATEs after which a call is retried until its timeout.
const AGAIN: &str = "0B000 23505 25001 25P02 25P04 2D000 40000 40001 40P01 55006 55P03 57014 72000";

/// Tries to make a record that the server refuses with `code`. Returns `None` if the error of the call has the kind
/// `kind`, and otherwise the answer as text.
async fn wrong(records: Arc<dyn DedupRepo>, code: &'static str, kind: ErrorKind) -> Result<Option<String>> {
    let (id, value, op) = (DedupId::new(code)?, Payload::try_from("x")?, OpId::new("op")?);
    let answer = records.record(&id, &value, &op, Retention::Forever).await;
    let is_right = |error: &storagebox_core::Error| (error.kind(), error.certainty()) == (kind, Certainty::NotApplied);
    Ok((!answer.as_ref().is_err_and(is_right)).then(|| format!("{code}: {answer:?}")))
}

async fn is_made_again(records: Arc<dyn DedupRepo>, code: &'static str) -> Result<Option<String>> {
    let (id, value, op) = (DedupId::new(code)?, Payload::try_from("x")?, OpId::new("op")?);
    let answer = records.record(&id, &value, &op, Retention::Forever).await;
    Ok((!matches!(answer, Ok(Recorded::New(_)))).then(|| format!("{code}: {answer:?}")))
}

#[test]
fn each_server_code_maps_to_a_not_applied_error_of_its_kind() -> Result<()> {
    with_place(async |place| {
        let schema = &place.schema;
        let count = |code| format!("CREATE SEQUENCE {schema}.\"times_{code}\";");
        let counts: String = AGAIN.split(' ').map(count).collect();
        run(place.database.owner(), FAILS.replace("{schema}", schema) + ";" + &counts).await?;
        let store = place.builder()?.combining(false).call_timeout(LONG).connect(&place.database.url())?;
        let records = store.dedup_repo(&"namespace".parse()?)?;
        let codes = CODES.iter().flat_map(|(kind, codes)| codes.split(' ').map(|code| (code, *kind)));
        let mut calls: JoinSet<_> = codes.map(|(code, kind)| wrong(Arc::clone(&records), code, kind)).collect();
        AGAIN.split(' ').for_each(|code| drop(calls.spawn(is_made_again(Arc::clone(&records), code))));
        let wrong: Vec<_> = calls.join_all().await.into_iter().filter_map(Result::transpose).collect::<Result<_>>()?;
        assert_eq!(wrong, Vec::<String>::new());
        Ok(())
    })
}

/// No statement was sent, so the error must not name damaged data or a table.
#[test]
fn refused_connection_reports_its_reason() -> Result<()> {
    with_place(async |place| {
        let (owner, role) = (place.database.owner(), place.database.role());
        run(owner, format!("CREATE DATABASE {role}_closed ALLOW_CONNECTIONS false")).await?;
        run(owner, format!("CREATE DATABASE {role}_denied")).await?;
        run(owner, format!("REVOKE CONNECT ON DATABASE {role}_denied FROM PUBLIC")).await?;
        let url = place.database.url();
        let refused = [
            (format!("{url}?options=-c%20nothing_of_the_kind%3D1"), ErrorKind::Misconfigured, "a session setting"),
            (format!("{url}?options=-c%20timezone%3DMars"), ErrorKind::Misconfigured, "a session setting"),
            (format!("{url}?dbname={role}_closed"), ErrorKind::Unavailable, "takes no connections"),
            (format!("{url}?dbname={role}_denied"), ErrorKind::Denied, "may not use the database"),
        ];
        for (url, kind, told) in refused {
            let store = place.builder()?.connect(&url)?;
            for error in [store.ping().await.unwrap_err(), bank_of(&store).await.unwrap_err()] {
                assert_eq!((error.kind(), error.certainty()), (kind, Certainty::NotApplied), "{error}");
                assert!(error.to_string().contains(told), "{error}");
            }
        }
        run(owner, format!("DROP DATABASE {role}_closed")).await?;
        run(owner, format!("DROP DATABASE {role}_denied")).await
    })
}

async fn bank_of(store: &PostgresStore) -> Result<Counts> {
    store.item_bank(&"namespace".parse()?)?.counts().await
}

async fn bank(place: &Place) -> Result<Arc<dyn ItemBank>> {
    let store = patient(place)?;
    let bank = store.item_bank(&"namespace".parse()?)?;
    bank.add(&[Item::new("item")?]).await?;
    Ok(bank)
}

const FREE: Counts = Counts { free: 1, held: 0, spent: 0, withdrawn: 0 };

/// A trigger on each table that a take writes raises an error after the take has written the other tables.
#[test]
fn take_refused_by_a_trigger_leaves_no_write() -> Result<()> {
    with_database(async |database| {
        for table in ["free_items", "claims"] {
            let place = database.place().await?;
            let (bank, claim, schema) = (bank(&place).await?, ClaimId::new("ada")?, &place.schema);
            let refuse = format!(
                "CREATE FUNCTION {schema}.refuse() RETURNS trigger LANGUAGE plpgsql
                     AS $$ BEGIN RAISE EXCEPTION 'not today'; END $$;
                 CREATE TRIGGER refuse AFTER INSERT OR UPDATE OR DELETE ON {schema}.{table}
                     FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse()"
            );
            run(database.owner(), refuse).await?;
            let error = bank.take(&claim, Hold::For(Duration::from_secs(60))).await.unwrap_err();
            let found = (error.kind(), error.certainty());
            assert_eq!(found, (ErrorKind::Misconfigured, Certainty::NotApplied), "{table}: {error}");
            assert_eq!(bank.counts().await?, FREE, "{table}");
            run(database.owner(), format!("DROP TRIGGER refuse ON {schema}.{table}; DROP FUNCTION {schema}.refuse()"))
                .await?;
            assert!(matches!(bank.take(&claim, Hold::Forever).await?, Taken::New(_)), "{table}");
        }
        Ok(())
    })
}

/// The server cancels the first two attempts at their last write.
#[test]
fn a_timeout_between_two_writes_undoes_the_first_write() -> Result<()> {
    with_place(async |place| {
        let (bank, schema) = (bank(place).await?, &place.schema);
        let slow = format!(
            "CREATE SEQUENCE {schema}.times;
             CREATE FUNCTION {schema}.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                 IF pg_catalog.nextval('{schema}.times') < 3 THEN PERFORM pg_catalog.pg_sleep(3600); END IF;
                 RETURN NULL;
             END $$;
             CREATE TRIGGER wait AFTER INSERT ON {schema}.claims FOR EACH STATEMENT EXECUTE FUNCTION {schema}.wait()"
        );
        run(place.database.owner(), slow).await?;
        let url = format!("{}?options=-c%20statement_timeout%3D50", place.database.url());
        let impatient = place.builder()?.call_timeout(LONG).statements(Statements::Simple).connect(&url)?;
        let impatient = impatient.item_bank(&"namespace".parse()?)?;
        let taken = impatient.take(&ClaimId::new("ada")?, Hold::Forever).await?;
        assert!(matches!(taken, Taken::New(_)), "{taken:?}");
        assert_eq!(bank.counts().await?, Counts { free: 0, held: 1, spent: 0, withdrawn: 0 });
        let times = count(&place.database, &format!("SELECT last_value FROM {schema}.times")).await?;
        assert!(times >= 3, "made again after it was cancelled");
        Ok(())
    })
}

/// Returns the rights that the README names: for each, the statement that revokes it and the statement that grants it
/// again.
async fn rights(place: &Place) -> Result<Vec<(String, String)>> {
    let functions = "SELECT format('EXECUTE ON FUNCTION %s', oid::regprocedure) FROM pg_proc
        WHERE pronamespace = $1::regnamespace AND (prosecdef OR proname ~ '^is_')
        AND prorettype <> 'trigger'::regtype ORDER BY 1";
    let functions = query_scalar(AssertSqlSafe(functions.to_owned())).bind(&place.schema);
    let mut rights: Vec<String> = functions.fetch_all(place.database.owner()).await.map_err(failed)?;
    let schema = &place.schema;
    rights.push(format!("USAGE ON SCHEMA {schema}"));
    rights.extend(["versions", "store"].map(|table| format!("SELECT ON {schema}.{table}")));
    let role = place.database.role();
    Ok(rights.iter().map(|it| (format!("REVOKE {it} FROM {role}"), format!("GRANT {it} TO {role}"))).collect())
}

/// Checks that `ping` and every call that needs the right return `Denied`.
async fn is_denied(store: &PostgresStore, right: &str) -> Result<()> {
    let ping = store.ping().await.expect_err(right);
    assert_eq!((ping.kind(), ping.certainty()), (ErrorKind::Denied, Certainty::NotApplied), "{right}: {ping}");
    for (call, error) in calls::errors(store, "old").await? {
        let Some(error) = error else { continue };
        let found = (error.kind(), error.certainty());
        assert_eq!(found, (ErrorKind::Denied, Certainty::NotApplied), "{right}: {call}: {error}");
    }
    Ok(())
}

#[test]
fn ping_and_calls_are_denied_if_the_role_lacks_a_right() -> Result<()> {
    with_place(async |place| {
        let store = patient(place)?;
        calls::make_all(&store, "old").await?;
        let rights = rights(place).await?;
        assert!(rights.len() > 40, "{rights:?}");
        for (revoke, grant) in rights {
            run(place.database.owner(), revoke.clone()).await?;
            is_denied(&store, &revoke).await?;
            run(place.database.owner(), grant).await?;
        }
        store.ping().await
    })
}

/// The functions run with the rights of their owner. The owner loses one right at a time.
#[test]
fn ping_and_calls_are_denied_if_the_owner_lacks_a_right() -> Result<()> {
    with_database(async |database| {
        let role = database.role();
        run(database.owner(), format!("GRANT CREATE ON DATABASE {role} TO {role}")).await?;
        let store = PostgresStore::builder().schema("own")?.connect(&database.url())?;
        store.setup().await?;
        calls::make_all(&store, "old").await?;
        for right in
            ["INSERT ON own.claims", "DELETE ON own.free_items", "UPDATE ON own.records", "UPDATE ON own.numbers"]
        {
            run(database.owner(), format!("REVOKE {right} FROM {role}")).await?;
            is_denied(&store, right).await?;
            run(database.owner(), format!("GRANT {right} TO {role}")).await?;
        }
        store.ping().await
    })
}

/// Setup does not create a dropped table again, because the table's rows are lost.
#[test]
fn ping_reports_a_dropped_function_and_setup_creates_it() -> Result<()> {
    with_place(async |place| {
        let store = place.builder()?.connect(&owner_url(&place.database, "owner"))?;
        run(place.database.owner(), format!("DROP FUNCTION {}.bank_take", place.schema)).await?;
        let ping = store.ping().await.unwrap_err();
        assert_eq!((ping.kind(), ping.certainty()), (ErrorKind::NotSetUp, Certainty::NotApplied), "{ping}");
        assert!(ping.to_string().contains("bank_take"), "{ping}");
        store.setup().await?;
        store.ping().await?;
        run(place.database.owner(), format!("DROP TABLE {}.tokens", place.schema)).await?;
        assert_eq!(store.ping().await.unwrap_err().kind(), ErrorKind::NotSetUp);
        assert_eq!(store.setup().await.unwrap_err().kind(), ErrorKind::NotSetUp);
        Ok(())
    })
}
