//! A database of one test, its owner, and a role that may only use what the owner has set up.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use storagebox_testkit::postgres::Postgres;
use storagebox_testkit::servers;

use crate::support::Place;

pub(super) const PASSWORD: &str = "hunter2";
const GRANTS: &str = include_str!("../../../../storagebox-postgres/sql/grants.sql");

/// It goes with this value, and its role too. Both have one name.
pub(super) struct Database {
    server: String,
    name: String,
}

impl Database {
    /// In the server of this test program, not set up.
    pub(super) fn bare() -> Self {
        Self::on(servers::shared_postgres().unwrap().url())
    }

    /// In the server of this test program, set up, with the rights that the backend's README names.
    pub(super) fn ready() -> Self {
        let database = Self::bare();
        database.set_up();
        database
    }

    /// In a server of its own, set up.
    pub(super) fn ready_on(server: &Postgres) -> Self {
        let database = Self::on(&server.url());
        database.set_up();
        database
    }

    fn on(server: &str) -> Self {
        let database = Self { server: server.to_owned(), name: unique_name() };
        let name = &database.name;
        database.admin(&format!("CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0"));
        database.admin(&format!("CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'"));
        database
    }

    fn set_up(&self) {
        Place::new().on(&self.owner()).run(&["setup"]).exits(0);
        self.grant();
    }

    /// Gives the role what the backend's README names.
    pub(super) fn grant(&self) {
        let grants = GRANTS.replace("{schema}", "storagebox").replace("{role}", &self.name);
        psql(&self.owner(), &grants);
    }

    /// The URL of the one who may create things.
    pub(super) fn owner(&self) -> String {
        let (login, _) = self.server.rsplit_once('@').unwrap();
        format!("{login}@{}/{}", self.address(), self.name)
    }

    /// The URL of the role with the least rights.
    pub(super) fn url(&self) -> String {
        self.url_with(PASSWORD, &self.name)
    }

    pub(super) fn url_with(&self, password: &str, database: &str) -> String {
        format!("postgres://{}:{password}@{}/{database}", self.name, self.address())
    }

    /// Commands of the role with the least rights, in a directory of their own.
    pub(super) fn place(&self) -> Place {
        Place::new().on(&self.url())
    }

    /// The same commands, by another way to the server.
    pub(super) fn place_by(&self, way: SocketAddr) -> Place {
        Place::new().on(&self.url().replace(self.address(), &way.to_string()))
    }

    /// Changes something past the library.
    pub(super) fn tamper(&self, statement: &str) {
        psql(&self.owner(), statement);
    }

    pub(super) fn address(&self) -> &str {
        let (_, rest) = self.server.rsplit_once('@').unwrap();
        rest.split(['/', '?']).next().unwrap()
    }

    fn admin(&self, statement: &str) {
        psql(&self.server, statement);
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.admin(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
        self.admin(&format!("DROP ROLE {}", self.name));
    }
}

/// Other test programs may use the same server.
fn unique_name() -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    format!("sbcli_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}

fn psql(url: &str, statements: &str) {
    let mut psql = Command::new("psql");
    psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statements, url]);
    let output = psql.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
