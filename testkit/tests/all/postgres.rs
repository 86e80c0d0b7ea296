//! Tests of our own PostgreSQL server: it answers, it can be killed, and it keeps its data.

use std::net::TcpListener;

use storagebox_testkit::Failure;
use storagebox_testkit::postgres::{Postgres, Settings};

use crate::patience::wait_until;
use crate::psql::{Session, ask};

#[test]
fn committed_rows_survive_a_kill_and_a_stop() {
    let server = Postgres::start(&Settings::durable().with("shared_buffers", "64MB")).unwrap();
    let url = server.url();
    ask(&url, &["create table kept (number int)", "insert into kept values (1)"]).unwrap();
    server.kill().unwrap();
    assert!(ask(&url, &["select 1"]).is_err(), "a killed server does not answer");
    server.start_again().unwrap();
    ask(&url, &["insert into kept values (2)"]).unwrap();
    server.stop().unwrap();
    server.start_again().unwrap();
    assert_eq!(ask(&url, &["select sum(number) from kept"]).unwrap(), "3");
    assert_eq!(ask(&url, &["show shared_buffers", "show fsync"]).unwrap(), "64MB\non");
}

#[test]
fn a_kill_ends_busy_sessions_at_once() {
    let server = Postgres::start(&Settings::durable()).unwrap();
    let url = server.url();
    ask(&url, &["create table written (number bigint)"]).unwrap();
    let mut session = Session::open(&url);
    let backend = session.ask("select pg_backend_pid();");
    // The session never waits, so it would not notice by itself that the server was killed.
    session.tell("do $$ begin loop insert into written values (1); end loop; end $$;");
    let is_busy = format!("select 1 from pg_stat_activity where pid = {backend} and query like 'do %'");
    wait_until(|| ask(&url, &[&is_busy]).unwrap() == "1");
    server.kill().unwrap();
    server.start_again().unwrap();
    assert_eq!(ask(&url, &["select count(*) from written"]).unwrap(), "0");
}

#[test]
fn calls_in_the_wrong_state_and_a_taken_port_fail() {
    let server = Postgres::start(&Settings::quick()).unwrap();
    assert!(matches!(server.start_again(), Err(Failure::WrongState { .. })));
    server.stop().unwrap();
    assert!(matches!(server.stop(), Err(Failure::WrongState { .. })));
    assert!(matches!(server.kill(), Err(Failure::WrongState { .. })));
    let _listener = TcpListener::bind(("127.0.0.1", server.port())).unwrap();
    let failure = server.start_again().unwrap_err().to_string();
    assert!(failure.contains("does not start") && failure.contains("Address already in use"), "{failure}");
}

#[test]
fn an_unknown_setting_is_a_failure_that_shows_the_log() {
    let failure = Postgres::start(&Settings::quick().with("no_such_setting", "1")).unwrap_err().to_string();
    assert!(failure.contains("no_such_setting"), "{failure}");
}

#[test]
fn tls_checks_the_authority_and_the_host_name() {
    let server = Postgres::start(&Settings::quick().with_tls()).unwrap();
    let url = server.tls_url().unwrap();
    let is_encrypted = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    assert_eq!(ask(&url, &[is_encrypted]).unwrap(), "t");
    let elsewhere = format!("{}&hostaddr=127.0.0.1", url.replace("@127.0.0.1:", "@elsewhere.test:"));
    let refusal = ask(&elsewhere, &[is_encrypted]).unwrap_err();
    assert!(refusal.contains("does not match host name"), "{refusal}");
}
