//! A store that stays open while its schema is emptied, created again or set up again.

use storagebox_core::{
    Backend, Certainty, Change, Counter, EntityLedger, Error, ErrorKind, Item, ItemBank, Joins, Key, OrderedOptions,
    OrderedStore, Result, Retention, Strategy,
};
use storagebox_postgres::{PostgresStore, Statements};
use storagebox_testkit::checks::calls;

use crate::scene::{blocked, count, owner_url, session, tell, until, with_database, with_place};
use crate::structure::{contents, tables};
use crate::support::{Database, Place, failed, run};

/// Calls about the whole store, which need none of the lost data.
const OF_THE_STORE: [&str; 3] = ["maintain", "ping", "setup"];

const BOTH: [Statements; 2] = [Statements::Prepared, Statements::Simple];

/// Opens a store with the least rights, and makes every call once to open its namespaces.
async fn open(place: &Place, statements: Statements) -> Result<PostgresStore> {
    let store = place.builder()?.statements(statements).connect(&place.database.url())?;
    calls::make_all(&store, "old").await?;
    Ok(store)
}

/// Checks that each call about lost data fails, and that its error says what to do.
fn assert_lost(refused: Vec<(String, Option<Error>)>) {
    for (call, error) in refused {
        let Some(error) = error else { panic!("{call} was answered") };
        assert_eq!(error.certainty(), Certainty::NotApplied, "{call}: {error}");
        if !OF_THE_STORE.contains(&&*call) {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{call}: {error}");
            assert!(error.to_string().contains("open the store again"), "{call}: {error}");
        }
    }
}

async fn empty(database: &Database, schema: &str, tables: &[String]) -> Result<()> {
    let tables: Vec<_> = tables.iter().map(|table| format!("{schema}.{table}")).collect();
    run(database.owner(), format!("TRUNCATE {}", tables.join(", "))).await
}

#[test]
fn an_open_store_is_refused_after_all_tables_are_emptied() -> Result<()> {
    for statements in BOTH {
        with_place(async |place| {
            let (database, schema) = (&place.database, &place.schema);
            let store = open(place, statements).await?;
            empty(database, schema, &tables(database, schema).await?).await?;
            assert_lost(calls::errors(&store, "old").await?);
            let again = place.builder()?.connect(&database.url())?;
            assert_eq!(again.item_bank(&"namespace".parse()?)?.counts().await.unwrap_err().kind(), ErrorKind::NotSetUp);
            assert_eq!(contents(database, schema).await?, Vec::<String>::new());
            Ok(())
        })?;
    }
    Ok(())
}

/// All tables of data are emptied. Another process then creates the namespaces again, some with other options.
#[test]
fn an_open_store_is_refused_in_recreated_namespaces() -> Result<()> {
    for statements in BOTH {
        with_place(async |place| {
            let (database, schema) = (&place.database, &place.schema);
            let store = open(place, statements).await?;
            let mut emptied = tables(database, schema).await?;
            emptied.retain(|table| !["versions", "store"].contains(&table.as_str()));
            empty(database, schema, &emptied).await?;
            let again = place.builder()?.connect(&database.url())?;
            make_otherwise(&again).await?;
            let before = contents(database, schema).await?;
            assert_lost(calls::errors(&store, "old").await?);
            assert_lost(vec![("a new namespace".to_owned(), store.item_bank(&"new".parse()?)?.counts().await.err())]);
            assert_eq!(contents(database, schema).await?, before);
            again.ping().await
        })?;
    }
    Ok(())
}

/// The store tries to create a namespace while a transaction that truncates the tables is open.
#[test]
fn an_open_store_creates_no_namespace_during_a_truncate() -> Result<()> {
    with_place(async |place| {
        let (database, schema) = (&place.database, &place.schema);
        let store = place.builder()?.connect(&place.url_at(database.server()))?;
        store.item_bank(&"old".parse()?)?.counts().await?;
        let mut emptying = session(place, &format!("TRUNCATE {schema}.namespaces")).await?;
        let bank = store.item_bank(&"new".parse()?)?;
        let counts = tokio::spawn(async move { bank.counts().await });
        until("a namespace that waits", async || Ok(blocked(database, schema).await? == 1)).await?;
        tell(&mut emptying, "COMMIT").await?;
        assert_lost(vec![("a new namespace".to_owned(), counts.await.map_err(failed)?.err())]);
        assert_eq!(count(database, &format!("SELECT count(*) FROM {schema}.namespaces")).await?, 0);
        Ok(())
    })
}

/// Creates the namespaces of the open store again, some with other options.
async fn make_otherwise(store: &PostgresStore) -> Result<()> {
    store.item_bank(&"old".parse()?)?.add(&[Item::new("one")?]).await?;
    let forgetful = Strategy::Marker { retention: Retention::For(std::time::Duration::from_secs(1)) };
    let _ = store.counter(&"old".parse()?, forgetful)?.apply(&"key".parse()?, &Change::new("op".parse()?, 5)).await?;
    store.dedup_repo(&"old".parse()?)?.list(None, 1).await?;
    store.token_store(&"old".parse()?)?.create_tokens(&["token".try_into()?]).await?;
    store.entity_ledger(&"old".parse()?, &Joins::default())?.pending(None, 1).await?;
    store.ordered_store(&"old".parse()?, OrderedOptions::time())?.get(&Key::new("key")?).await.map(drop)
}

/// The new schema also has another `remember` setting.
#[test]
fn an_open_store_is_refused_in_a_recreated_schema() -> Result<()> {
    const SCHEMA: &str = "anew";
    for statements in BOTH {
        with_database(async |database| {
            let builder = || PostgresStore::builder().schema(SCHEMA);
            let url = owner_url(database, SCHEMA);
            let store = builder()?.statements(statements).connect(&url)?;
            store.setup().await?;
            calls::make_all(&store, "old").await?;
            run(database.owner(), format!("DROP SCHEMA {SCHEMA} CASCADE")).await?;
            let again = builder()?.remember(Retention::Forever).connect(&url)?;
            again.setup().await?;
            make_otherwise(&again).await?;
            let before = contents(database, SCHEMA).await?;
            let refused = calls::errors(&store, "old").await?;
            assert!(refused.iter().all(|(_, error)| error.as_ref().is_some_and(is_corrupt)), "{refused:?}");
            assert_lost(refused);
            assert_lost(vec![("a new namespace".to_owned(), store.item_bank(&"new".parse()?)?.counts().await.err())]);
            assert_eq!(contents(database, SCHEMA).await?, before);
            again.ping().await
        })?;
    }
    Ok(())
}

fn is_corrupt(error: &Error) -> bool {
    error.kind() == ErrorKind::Corrupt
}

const NEW_EPOCH: &str = include_str!("../../sql/new_epoch.sql");

/// The copy has the same namespaces, with the data of an earlier time.
#[test]
fn an_open_store_is_refused_in_a_copy_with_a_new_epoch() -> Result<()> {
    with_place(async |place| {
        let store = open(place, Statements::Prepared).await?;
        run(place.database.owner(), NEW_EPOCH.replace("{schema}", &place.schema)).await?;
        let before = contents(&place.database, &place.schema).await?;
        let refused = calls::errors(&store, "old").await?;
        assert!(refused.iter().all(|(_, error)| error.as_ref().is_some_and(is_corrupt)), "{refused:?}");
        assert_lost(refused);
        assert_eq!(contents(&place.database, &place.schema).await?, before);
        place.builder()?.connect(&place.database.url())?.item_bank(&"old".parse()?)?.counts().await.map(drop)
    })
}

#[test]
fn an_open_store_works_after_a_second_setup() -> Result<()> {
    with_place(async |place| {
        let store = open(place, Statements::Prepared).await?;
        let said = format!("SELECT epoch FROM {}.store", place.schema);
        let before = count(&place.database, &said).await?;
        place.builder()?.connect(&owner_url(&place.database, "again"))?.setup().await?;
        assert_eq!(count(&place.database, &said).await?, before);
        for (call, refused) in calls::errors(&store, "old").await? {
            assert!(refused.is_none(), "{call}: {refused:?}");
        }
        Ok(())
    })
}
