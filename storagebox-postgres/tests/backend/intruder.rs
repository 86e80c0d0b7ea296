//! A role that may create objects in `public`, as every role may before PostgreSQL 15: the store runs none of these
//! objects.

mod decoys;

use std::time::Duration;

use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, query_scalar};
use storagebox_core::{
    Backend, Begun, Bounds, Change, Counted, Counter, DedupId, ErrorKind, Hold, Item, ItemBank, LeaseRepo, OpId,
    Result, Retention, Strategy,
};
use storagebox_postgres::{PostgresStore, Statements};

use crate::scene::{owner_url, with_place};
use crate::support::{Database, failed, run};

const HOUR: Duration = Duration::from_secs(3_600);
const BETTER_MATCHES: &str = include_str!("intruder/better_matches.sql");
const TEMPORARY: &str = include_str!("intruder/temporary.sql");
const TRAP: &str = include_str!("intruder/trap.sql");
const BAITS: &str = include_str!("intruder/baits.sql");
const ELSEWHERE: &str = include_str!("intruder/elsewhere.sql");

/// The role of an intruder. `goes` removes the role and all its objects.
struct Intruder<'a> {
    database: &'a Database,
    role: String,
}

impl<'a> Intruder<'a> {
    async fn leaves(database: &'a Database, sql: &str) -> Result<Self> {
        let role = format!("{}_intruder", database.role());
        run(database.owner(), format!("CREATE ROLE {role}; GRANT CREATE ON SCHEMA public TO {role}")).await?;
        let intruder = Self { database, role };
        intruder.does(sql).await?;
        Ok(intruder)
    }

    async fn makes_schemas(&self, sql: &str) -> Result<()> {
        let Self { database, role } = self;
        run(database.owner(), format!("GRANT CREATE ON DATABASE {} TO {role}", database.role())).await?;
        self.does(sql).await
    }

    async fn does(&self, sql: &str) -> Result<()> {
        let Self { database, role } = self;
        let work = format!("SET SESSION AUTHORIZATION {role}; {sql}; RESET SESSION AUTHORIZATION");
        run(database.owner(), work).await
    }

    /// Returns the roles with whose rights the intruder's code ran, and how many password hashes the code could read.
    async fn loot(&self) -> Result<Vec<String>> {
        lines(self.database, "SELECT format('%s: %s hashes', victim, hashes) FROM public.loot").await
    }

    async fn goes(self) -> Result<()> {
        let Self { database, role } = self;
        run(database.owner(), format!("DROP OWNED BY {role} CASCADE; DROP ROLE {role}")).await
    }
}

async fn lines(database: &Database, sql: &str) -> Result<Vec<String>> {
    query_scalar(AssertSqlSafe(sql.to_owned())).fetch_all(database.owner()).await.map_err(failed)
}

/// Returns the schema's references to objects outside the schema and `pg_catalog`.
async fn elsewhere(database: &Database, schema: &str) -> Result<Vec<String>> {
    query_scalar(ELSEWHERE).bind(schema).fetch_all(database.owner()).await.map_err(failed)
}

/// Makes calls whose SQL uses names for which decoys exist. Returns the remaining time of a lease of one second.
async fn calls(store: &PostgresStore, name: &str) -> Result<Duration> {
    let bank = store.item_bank(&name.parse()?)?;
    bank.add(&[Item::new("item")?]).await?;
    let _ = bank.take(&"ada".try_into()?, Hold::For(HOUR)).await?;
    let bounds = Bounds::between(0, 7)?;
    let sharded = Strategy::Sharded { shards: 4, bounds, retention: Retention::Forever };
    let counted =
        store.counter(&name.parse()?, sharded)?.apply(&"stock".parse()?, &Change::new("op".parse()?, 7)).await?;
    assert!(matches!(counted, Counted::Applied { .. }), "{counted:?}");
    let (leases, id) = (store.lease_repo(&name.parse()?)?, DedupId::new("id")?);
    let _ = leases.begin(&id, &OpId::new("one")?, Duration::from_secs(1), None).await?;
    match leases.begin(&id, &OpId::new("other")?, HOUR, None).await? {
        Begun::InFlight { remaining } => Ok(remaining),
        _ => Ok(Duration::ZERO),
    }
}

#[test]
fn intruder_code_in_public_never_runs_with_the_rights_of_others() -> Result<()> {
    with_place(async |place| {
        let superuser = place.builder()?.connect(&owner_url(&place.database, "superuser"))?;
        let simple = place.builder()?.statements(Statements::Simple).connect(&place.database.url())?;
        let intruder = Intruder::leaves(&place.database, BETTER_MATCHES).await?;
        let outcomes = [calls(&superuser, "superuser").await, calls(&simple, "simple").await];
        let loot = intruder.loot().await?;
        intruder.goes().await?;
        assert_eq!(loot, Vec::<String>::new());
        for lease in outcomes {
            assert!(lease? <= Duration::from_secs(1));
        }
        Ok(())
    })
}

#[test]
fn schema_refers_only_to_itself_and_pg_catalog() -> Result<()> {
    with_place(async |place| {
        assert_eq!(elsewhere(&place.database, &place.schema).await?, Vec::<String>::new());
        Ok(())
    })
}

/// The owner of a schema could attach triggers, which functions of a superuser would run with all rights.
#[test]
fn superuser_does_not_set_up_a_schema_of_another_role() -> Result<()> {
    with_place(async |place| {
        let database = &place.database;
        let intruder = Intruder::leaves(database, BETTER_MATCHES).await?;
        intruder.makes_schemas(TRAP).await?;
        let superuser = PostgresStore::builder().schema("trapped")?.connect(&owner_url(database, "setup"))?;
        let outcomes = [superuser.ping().await, superuser.setup().await];
        let loot = intruder.loot().await?;
        intruder.goes().await?;
        assert_eq!(loot, Vec::<String>::new());
        assert_eq!(kinds(outcomes), [Some(ErrorKind::Denied); 2]);
        Ok(())
    })
}

fn kinds<const N: usize>(outcomes: [Result<()>; N]) -> [Option<ErrorKind>; N] {
    outcomes.map(|outcome| outcome.err().map(|error| error.kind()))
}

/// Gives a role many rights without making it a superuser.
const STRENGTH: &str = "GRANT pg_read_all_data, pg_write_all_data TO {role}; GRANT CREATE ON DATABASE {role} TO {role}";

const LENT: &str = "CREATE SCHEMA lent; GRANT USAGE, CREATE ON SCHEMA lent TO PUBLIC";

const BAITED: [&str; 10] =
    ["viewed", "planned", "guarded", "indexed", "halved", "checked", "counted", "disguised", "stored", "lent"];

/// The command-line tool pings a store before it sets the store up, so both calls must be safe.
#[test]
fn ping_and_setup_run_no_code_left_by_an_intruder() -> Result<()> {
    with_place(async |place| {
        let database = &place.database;
        let intruder = Intruder::leaves(database, BETTER_MATCHES).await?;
        run(database.owner(), LENT.to_owned()).await?;
        intruder.makes_schemas(BAITS).await?;
        run(database.owner(), STRENGTH.replace("{role}", database.role())).await?;
        let mut unlike = vec![];
        for schema in BAITED {
            for (who, url) in [("a superuser", owner_url(database, "look")), ("a role", database.url())] {
                let store = PostgresStore::builder().schema(schema)?.connect(&url)?;
                let outcomes = kinds([store.ping().await, store.setup().await]);
                let loot = intruder.loot().await?;
                intruder.does("DELETE FROM public.loot").await?;
                if outcomes != [Some(ErrorKind::Denied); 2] || !loot.is_empty() {
                    unlike.push(format!("{schema}, {who}: {outcomes:?}, {loot:?}"));
                }
            }
        }
        intruder.goes().await?;
        assert_eq!(unlike, Vec::<String>::new());
        Ok(())
    })
}

#[test]
fn temporary_objects_of_a_caller_are_not_used() -> Result<()> {
    with_place(async |place| {
        let pool = PgPoolOptions::new().max_connections(1).connect(&place.database.url()).await;
        let pool = pool.map_err(failed)?;
        run(&pool, TEMPORARY.to_owned()).await?;
        for (statements, name) in [(Statements::Prepared, "prepared"), (Statements::Simple, "simple")] {
            let store = place.builder()?.statements(statements).from_pool(pool.clone())?;
            calls(&store, name).await?;
        }
        Ok(())
    })
}
