//! The program of the example, over the servers of the tests.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may fail where a library must not")]

use std::process::{Command, Output};
use std::thread;

use storagebox_testkit::servers;

fn pipeline(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pipeline")).args(arguments).output().unwrap()
}

fn succeeds(arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = pipeline(arguments);
    let output = String::from_utf8(stdout).unwrap();
    assert!(status.success(), "{output}{}", String::from_utf8_lossy(&stderr));
    output
}

fn fails(arguments: &[&str]) -> String {
    let Output { status, stderr, .. } = pipeline(arguments);
    let error = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(1), "{error}");
    error
}

#[test]
fn run_with_killed_workers_and_broker_handles_each_order_once() {
    let output = succeeds(&["run", "--orders", "60", "--kill-workers", "4", "--kill-broker", "1"]);
    assert!(output.contains("every order was paid once and shipped once"), "{output}");
    assert!(output.contains("left: 0 entries, 0 of "), "{output}");
}

#[test]
fn runs_over_postgres_and_nats_handle_each_order_once() {
    let (postgres, nats) = (servers::shared_postgres().unwrap(), servers::shared_nats().unwrap());
    for url in [postgres.url(), nats.url()] {
        let output = succeeds(&["run", "--orders", "30", "--transport", url]);
        assert!(output.contains("30 orders, 30 payments, 30 parcels"), "{output}");
    }
}

#[test]
fn run_with_a_store_on_another_server_handles_each_order_once() {
    let (redis, postgres) = (servers::shared_redis().unwrap(), servers::shared_postgres().unwrap());
    succeeds(&["run", "--orders", "30", "--transport", redis.url(), "--store", postgres.url()]);
}

/// Also checks that without the deduplication, a parked message and its copy both take effect.
#[test]
fn parked_messages_take_effect_once() {
    let redis = servers::shared_redis().unwrap();
    let off = thread::spawn(|| fails(&["parked", "--dedup", "off", "--transport", redis.url()]));
    let output = succeeds(&["parked", "--transport", redis.url()]);
    assert!(output.contains("5 orders, 5 payments, 5 parcels"), "{output}");
    assert_eq!(off.join().unwrap(), "out of balance; carrier: 5 repetitions, expected 0\n");
}

#[test]
fn wrong_arguments_are_refused_before_anything_starts() {
    let failures: [(&[&str], &str); 4] = [
        (&["run", "--transport", "kafka"], "--transport takes a URL"),
        (&["run", "--transport", "redis://ann:secret@127.0.0.1:1", "--kill-broker", "1"], "--kill-broker needs"),
        (&["run", "--transport", "redis://ann:secret@127.0.0.1:1", "--store", "memory:"], "`memory:` is refused"),
        (&["run", "--transport", "redis://ann:secret@127.0.0.1:1", "--name", "not a name"], "--name takes"),
    ];
    for (arguments, why) in failures {
        let output = fails(arguments);
        assert!(output.contains(why) && !output.contains("secret"), "{output}");
    }
}
