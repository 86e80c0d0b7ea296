//! A part of the suite in every other set-up.

mod support;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use storagebox_conformance::{Profile, Selection, run_with};
use storagebox_core::Result;
use storagebox_postgres::Statements;
use storagebox_testkit::pgbouncer::{PgBouncer, Settings};
use support::{Database, PostgresHarness, SetUp};
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    PostgresHarness::with_database(|runtime, database| {
        let plain = SetUp { name: "smoke", ..SetUp::PLAIN };
        let alone = SetUp { name: "smoke, combining off", combining: false, ..SetUp::PLAIN };
        let simple =
            SetUp { name: "smoke, simple statements", statements: Statements::Simple, ..SetUp::PLAIN };
        let (_pooler, address) = pooler(&database)?;
        let pooled = SetUp { name: "smoke, PgBouncer", through: Some(address), ..simple };
        let outcomes: Vec<_> = [plain, alone, simple, pooled]
            .map(|set_up| smoke(runtime, &database, set_up))
            .into_iter()
            .collect::<Result<_>>()?;
        Ok(outcomes.into_iter().find(|outcome| *outcome != ExitCode::SUCCESS).unwrap_or(ExitCode::SUCCESS))
    })
}

fn smoke(runtime: &Runtime, database: &Arc<Database>, set_up: SetUp) -> Result<ExitCode> {
    let harness = runtime.block_on(PostgresHarness::new(Arc::clone(database), set_up))?;
    Ok(run_with(harness, Profile::SMOKE, Selection::Smoke))
}

/// In transaction mode, with fewer connections than callers.
fn pooler(database: &Database) -> Result<(PgBouncer, SocketAddr)> {
    let pooler = PgBouncer::start(&database.url(), &Settings::transactions()).map_err(support::failed)?;
    let address = pooler.address();
    Ok((pooler, address))
}
