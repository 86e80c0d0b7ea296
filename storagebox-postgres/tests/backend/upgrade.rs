//! Schemas of released versions, as dumps with data in every table: setup keeps all of it.
//!
//! Once a version is released, every change of its structure, functions included, needs a new version. Before the
//! release, this command writes the newest dump again:
//! `STORAGEBOX_WRITE_SCHEMA=1 cargo test -p storagebox-postgres --test backend the_newest`.

pub(crate) mod namespaces;

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use storagebox_core::{Backend, Certainty, ErrorKind, Result};
use storagebox_postgres::{PostgresStore, Statements};
use storagebox_testkit::checks::calls;

use crate::scene::{count, in_database, owner_url, with_database};
use crate::structure::{contents, structure, tables};
use crate::support::{Database, failed, run};

/// A dump of the schema of each released version, and of the next version. The dump of a released version is never
/// changed.
const DUMPS: [&str; 3] = ["1.dump", "2.dump", "3.dump"];

/// The SQL that sets the version of a schema: it creates the function that has the version in its name.
const VERSION: &str = include_str!("../../sql/store/version.sql");

const SCHEMA: &str = "storagebox";

/// Counts the functions that share a name with another function. A version that changes the arguments of a function
/// must drop the old function.
const OLD_FORMS: &str =
    "SELECT count(*) - count(DISTINCT proname) FROM pg_proc WHERE pronamespace = 'storagebox'::regnamespace";

fn store(database: &Database) -> Result<PostgresStore> {
    namespaces::builder().connect(&owner_url(database, SCHEMA))
}

#[test]
fn setup_upgrades_each_schema_version_and_keeps_its_data() -> Result<()> {
    for dump in DUMPS {
        with_database(async |database| {
            restore(database, dump).await?;
            let said = format!("SELECT epoch FROM {SCHEMA}.store");
            let (store, before) = (store(database)?, count(database, &said).await?);
            store.setup().await?;
            assert_eq!(count(database, &said).await?, before, "{dump}");
            store.ping().await?;
            assert_eq!(count(database, OLD_FORMS).await?, 0, "{dump}");
            namespaces::check(&store).await
        })?;
    }
    Ok(())
}

/// Some processes keep running while another process upgrades the schema.
#[test]
fn an_open_store_is_refused_after_a_schema_upgrade() -> Result<()> {
    for statements in [Statements::Prepared, Statements::Simple] {
        with_database(async |database| {
            let url = owner_url(database, SCHEMA);
            let old = PostgresStore::builder().statements(statements).connect(&url)?;
            old.setup().await?;
            calls::make_all(&old, "old").await?;
            upgrade(database).await?;
            let before = (structure(database, SCHEMA).await?, contents(database, SCHEMA).await?);
            for (call, refused) in calls::errors(&old, "old").await? {
                let refused = refused.unwrap_or_else(|| panic!("{call} was answered"));
                assert_eq!(refused.kind(), ErrorKind::Unsupported, "{call}: {refused}");
                assert_eq!(refused.certainty(), Certainty::NotApplied, "{call}: {refused}");
                assert!(refused.message().contains("a newer storagebox"), "{call}: {refused}");
            }
            let after = (structure(database, SCHEMA).await?, contents(database, SCHEMA).await?);
            assert!(after == before, "{:?} instead of {:?}", after.1, before.1);
            Ok(())
        })?;
    }
    Ok(())
}

/// Upgrades to a version in which only the version number differs.
async fn upgrade(database: &Database) -> Result<()> {
    let newer = 1 + DUMPS.len();
    let name = VERSION.replace("{schema}", SCHEMA).replace("{version}", &newer.to_string());
    run(database.owner(), format!("BEGIN; INSERT INTO {SCHEMA}.versions VALUES ({newer}); {name} COMMIT")).await
}

#[test]
fn second_setup_changes_no_row() -> Result<()> {
    with_database(async |database| {
        let store = store(database)?;
        store.setup().await?;
        namespaces::fill(&store).await?;
        let before = contents(database, SCHEMA).await?;
        store.setup().await?;
        assert_eq!(contents(database, SCHEMA).await?, before);
        namespaces::check(&store).await
    })
}

#[tokio::test]
async fn the_newest_dump_has_the_structure_of_a_fresh_schema() -> Result<()> {
    let newest = DUMPS[DUMPS.len() - 1];
    let fresh = with_fresh(newest).await?;
    in_database(async |database| {
        restore(database, newest).await?;
        for table in tables(database, SCHEMA).await? {
            let held = contents(database, SCHEMA).await?;
            assert!(held.iter().any(|row| row.starts_with(&format!("{table} "))), "nothing in {table}");
        }
        let dumped = structure(database, SCHEMA).await?;
        let (missing, added) = (without(&dumped, &fresh), without(&fresh, &dumped));
        assert!(
            missing.is_empty() && added.is_empty(),
            "released SQL is not changed: it needs a new version.\nIn the dump alone: {missing:#?}\nIn a fresh schema alone: {added:#?}"
        );
        Ok(())
    })
    .await
}

fn without(these: &[String], those: &[String]) -> Vec<String> {
    these.iter().filter(|line| !those.contains(line)).cloned().collect()
}

/// Returns the structure of a fresh schema. Writes its dump if an environment variable asks for it.
async fn with_fresh(dump: &str) -> Result<Vec<String>> {
    let mut fresh = vec![];
    in_database(async |database| {
        let store = store(database)?;
        store.setup().await?;
        fresh = structure(database, SCHEMA).await?;
        if env::var_os("STORAGEBOX_WRITE_SCHEMA").is_some() {
            namespaces::fill(&store).await?;
            write(database, dump)?;
        }
        Ok(())
    })
    .await?;
    Ok(fresh)
}

fn file(dump: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas").join(dump)
}

async fn restore(database: &Database, dump: &str) -> Result<()> {
    let dump = fs::read_to_string(file(dump)).map_err(failed)?;
    run(database.owner(), format!("{dump}\nRESET ALL;")).await
}

fn write(database: &Database, dump: &str) -> Result<()> {
    let mut pg_dump = Command::new("pg_dump");
    pg_dump.args(["--inserts", "--no-owner", "--no-privileges", "--schema", SCHEMA]);
    let output = pg_dump.arg(owner_url(database, SCHEMA)).output().map_err(failed)?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::write(file(dump), cleaned(&String::from_utf8_lossy(&output.stdout))).map_err(failed)
}

fn cleaned(dump: &str) -> String {
    let is_noise = |line: &str| {
        ["SET ", "SELECT pg_catalog.set_config", "\\"].iter().any(|start| line.starts_with(start))
            || (line.starts_with("--") && !line.starts_with("---"))
    };
    let kept: Vec<_> = dump.lines().filter(|line| !is_noise(line)).collect();
    let mut text = String::from("SET check_function_bodies = off;\n");
    for line in kept {
        if !(line.is_empty() && text.ends_with("\n\n")) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}
