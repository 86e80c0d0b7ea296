//! Tests of a pooler in front of a server.

use storagebox_testkit::Failure;
use storagebox_testkit::pgbouncer::{PgBouncer, Settings, knows_prepared_statements};
use storagebox_testkit::servers;

use crate::psql::{Session, ask};

fn server() -> &'static str {
    servers::shared_postgres().unwrap().url()
}

#[test]
fn clients_share_a_connection_between_transactions() {
    // In another mode, the second client would wait for the first client until the pooler refuses it.
    let one = Settings::transactions().with("default_pool_size", "1").with("query_wait_timeout", "5");
    let pooler = PgBouncer::start(server(), &one).unwrap();
    let mut first = Session::open(&pooler.url());
    let backend = first.ask("select pg_backend_pid();");
    assert_eq!(ask(&pooler.url(), &["select pg_backend_pid()"]), Ok(backend));
    assert_eq!(first.ask("select 2;"), "2");
}

#[test]
fn prepared_statements_work_or_the_pooler_is_too_old() {
    let pooler = PgBouncer::start(server(), &Settings::transactions().with_prepared_statements(100));
    match knows_prepared_statements().unwrap() {
        true => assert_eq!(ask(&pooler.unwrap().url(), &["select 1"]).unwrap(), "1"),
        false => assert!(matches!(pooler, Err(Failure::TooOld { .. }))),
    }
}
