//! The example as people start it, over the servers of the tests.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may fail where a library must not")]

use std::process::{Command, Output};
use std::thread;

use storagebox_testkit::servers;

fn pipeline(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pipeline")).args(arguments).output().unwrap()
}

/// What it says of a run that must come out even.
fn even(arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = pipeline(arguments);
    let told = String::from_utf8(stdout).unwrap();
    assert!(status.success(), "{told}{}", String::from_utf8_lossy(&stderr));
    told
}

fn refused(arguments: &[&str]) -> String {
    let Output { status, stderr, .. } = pipeline(arguments);
    assert_eq!(status.code(), Some(1));
    String::from_utf8(stderr).unwrap()
}

#[test]
fn workers_and_a_broker_are_killed_on_the_way() {
    let told = even(&["run", "--orders", "60", "--kill-workers", "4", "--kill-broker", "1"]);
    assert!(told.contains("every order was paid once and shipped once"), "{told}");
    assert!(told.contains("left: 0 entries, 0 of "), "{told}");
}

#[test]
fn any_transport_will_do() {
    let (postgres, nats) = (servers::shared_postgres().unwrap(), servers::shared_nats().unwrap());
    for url in [postgres.url(), nats.url()] {
        let told = even(&["run", "--orders", "30", "--transport", url]);
        assert!(told.contains("30 orders, 30 payments, 30 parcels"), "{told}");
    }
}

#[test]
fn any_store_will_do() {
    let (redis, postgres) = (servers::shared_redis().unwrap(), servers::shared_postgres().unwrap());
    even(&["run", "--orders", "30", "--transport", redis.url(), "--store", postgres.url()]);
}

/// And the same copies take effect twice where nobody looks at their tokens.
#[test]
fn what_was_parked_and_forgotten_takes_effect_once() {
    let redis = servers::shared_redis().unwrap();
    let off = thread::spawn(|| refused(&["parked", "--dedup", "off", "--transport", redis.url()]));
    let told = even(&["parked", "--transport", redis.url()]);
    assert!(told.contains("5 orders, 5 payments, 5 parcels"), "{told}");
    assert_eq!(off.join().unwrap(), "5 orders were shipped more than once\n");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_starts() {
    let refusals: [(&[&str], &str); 4] = [
        (&["run", "--transport", "kafka"], "--transport takes a URL"),
        (&["run", "--transport", "redis://ann:secret@127.0.0.1:1", "--kill-broker", "1"], "is not killed"),
        (&["run", "--transport", "redis://ann:secret@127.0.0.1:1", "--store", "memory:"], "`memory:` is none"),
        (&["run", "--transport", "redis://ann:secret@127.0.0.1:1", "--name", "not a name"], "--name takes"),
    ];
    for (arguments, why) in refusals {
        let told = refused(arguments);
        assert!(told.contains(why) && !told.contains("secret"), "{told}");
    }
}
