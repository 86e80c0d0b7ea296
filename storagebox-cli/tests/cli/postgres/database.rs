//! The database of one test, its owner, and a role that may only use what the owner has set up.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use storagebox_testkit::servers;

use super::ready;
use crate::ready::SECRET;
use crate::stores::{Served, Store};
use crate::support::Place;

const GRANTS: &str = include_str!("../../../../storagebox-postgres/sql/grants.sql");

/// A database and a role of the same name. Dropping this value deletes the database and the role.
pub(crate) struct Database {
    server: String,
    name: String,
}

impl Database {
    /// Creates a database on the server of this URL, without setup.
    pub(super) fn on(server: &str) -> Self {
        let database = Self { server: server.to_owned(), name: unique_name() };
        let name = &database.name;
        database.admin(&format!("CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0"));
        database.admin(&format!("CREATE ROLE {name} LOGIN PASSWORD '{SECRET}'"));
        database
    }

    fn grant(&self) {
        let grants = GRANTS.replace("{schema}", "storagebox").replace("{role}", &self.name);
        psql(&self.owner(), &grants);
    }

    /// Returns the URL for the owner of the database.
    fn owner(&self) -> String {
        let (login, _) = self.server.rsplit_once('@').unwrap();
        format!("{login}@{}/{}", self.address(), self.name)
    }

    fn url_with(&self, password: &str, database: &str) -> String {
        format!("postgres://{}:{password}@{}/{database}", self.name, self.address())
    }

    /// Returns a [`Place`] for commands of the role, with this password and database.
    pub(super) fn place_with(&self, password: &str, database: &str) -> Place {
        Place::new().on(&self.url_with(password, database))
    }

    /// Changes the database without the library.
    pub(super) fn tamper(&self, statement: &str) {
        psql(&self.owner(), statement);
    }

    /// Takes from the role the right to call these functions.
    pub(super) fn denies(&self, functions: &str) {
        self.tamper(&format!("REVOKE EXECUTE ON FUNCTION {functions} FROM PUBLIC, {}", self.name));
    }

    fn admin(&self, statement: &str) {
        psql(&self.server, statement);
    }
}

impl Store for Database {
    const BACKEND: &str = "postgres";
    const ODD: &str = "'; DROP TABLE x; -- $1 \\ \"é\" e\u{301} 🎁";
    const WRONG_URLS: &[(&str, &str)] = ready::WRONG_URLS;

    fn bare() -> Self {
        Self::on(servers::shared_postgres().unwrap().url())
    }

    /// Returns the URL of the role with the least rights.
    fn url(&self) -> String {
        self.url_with(SECRET, &self.name)
    }

    fn left_by_the_suite(&self) -> Vec<String> {
        let schemas = psql(&self.owner(), "SELECT nspname FROM pg_namespace WHERE nspname LIKE '%conform%'");
        schemas.lines().map(str::to_owned).collect()
    }

    fn note_of_bare(&self) -> String {
        "the schema or a table of it does not exist".to_owned()
    }

    fn place_of_owner(&self) -> Place {
        Place::new().on(&self.owner())
    }

    /// Sets the store up, and grants the role its rights.
    fn set_up(self) -> Self {
        self.place_of_owner().run(&["setup"]).exits(0);
        self.grant();
        self
    }
}

impl Served for Database {
    fn address(&self) -> &str {
        let (_, rest) = self.server.rsplit_once('@').unwrap();
        rest.split(['/', '?']).next().unwrap()
    }

    fn place_at(address: &str) -> Place {
        Place::new().on(&format!("postgres://ada:{SECRET}@{address}/shop"))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.admin(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
        self.admin(&format!("DROP ROLE {}", self.name));
    }
}

fn unique_name() -> String {
    // Other test programs may use the same server.
    static MADE: AtomicU32 = AtomicU32::new(0);
    format!("sbcli_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}

fn psql(url: &str, statements: &str) -> String {
    let mut psql = Command::new("psql");
    psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statements, url]);
    let output = psql.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
