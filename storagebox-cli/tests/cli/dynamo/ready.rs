//! `setup` and `ping`: what a person is told while a table is not what it should be, and that keys are never shown.

use std::process::{Command, Stdio};

use aws_sdk_dynamodb::types::{AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType};
use storagebox_testkit::port;

use super::table::{SECRET, Table};
use crate::quiet::Quiet;
use crate::support::{Ended, Place};

const COUNTS: [&str; 3] = ["bank", "counts", "b"];

#[track_caller]
fn run(place: &Place, args: &[&str], code: i32) -> Ended {
    silent(place.run(args).exits(code))
}

#[track_caller]
fn silent(ended: Ended) -> Ended {
    let shown = [&ended.stdout[..], &ended.stderr].concat();
    assert!(!shown.contains(SECRET) && !shown.contains("://"), "{shown}");
    ended
}

/// A failure, with what happened and what to do.
#[track_caller]
fn fails(ended: Ended, because: &str, help: &str) {
    let ended = silent(ended.exits(3));
    assert_eq!(ended.stdout, "");
    let (error, advice) = (ended.stderr.lines().next().unwrap(), ended.stderr.lines().last().unwrap());
    assert!(error.starts_with("error: cannot ") && error.contains(because), "{}", ended.stderr);
    assert!(advice.starts_with("help: ") && advice.contains(help), "{}", ended.stderr);
}

#[test]
fn a_table_is_made_once_and_then_ready() {
    let table = Table::bare();
    let place = table.place();
    let bare = run(&place, &["ping"], 1);
    assert_eq!(bare.stdout, "backend dynamo\noutcome not set up\n");
    let told = "note: the table, or its index, does not exist\nhelp: run `storagebox setup";
    assert!(bare.stderr.starts_with(told), "{}", bare.stderr);
    assert_eq!(run(&place, &["setup", "--json"], 0).json()["outcome"], "set_up");
    assert_eq!(run(&place, &["setup", "--json"], 0).json()["outcome"], "was_set_up");
    assert_eq!(run(&place, &["ping"], 0).stdout, "backend dynamo\noutcome ready\n");
    assert_eq!(run(&place, &["ping", "--json"], 0).json()["outcome"], "ready");
}

#[test]
fn four_setups_at_once_are_one() {
    let table = Table::bare();
    let place = table.place();
    let spawn = || place.command(&["setup"]).stdout(Stdio::null()).spawn().unwrap();
    for mut setup in [spawn(), spawn(), spawn(), spawn()] {
        assert_eq!(setup.wait().unwrap().code(), Some(0));
    }
    run(&place, &["ping"], 0);
}

#[test]
fn a_command_on_a_table_that_is_missing_says_how_to_make_it() {
    let table = Table::bare();
    fails(table.place().run(&COUNTS), "does not exist", "run `storagebox setup");
}

#[test]
fn a_table_of_another_shape_is_left_alone() {
    let table = Table::bare();
    table.raw(create_with_one_key);
    let place = table.place();
    let refused = silent(place.run(&["setup"]).exits(2));
    assert!(refused.stderr.contains("must have the keys pk and sk"), "{}", refused.stderr);
}

async fn create_with_one_key(client: aws_sdk_dynamodb::Client, name: &str) {
    let key = KeySchemaElement::builder().attribute_name("id").key_type(KeyType::Hash).build().unwrap();
    let id = AttributeDefinition::builder().attribute_name("id").attribute_type(ScalarAttributeType::S);
    let create = client.create_table().table_name(name).billing_mode(BillingMode::PayPerRequest);
    let create = create.key_schema(key).attribute_definitions(id.build().unwrap());
    create.send().await.unwrap();
}

#[test]
fn a_server_that_is_down_is_not_reached() {
    let down = format!("dynamodb://eu-west-1/shop?endpoint=http://127.0.0.1:{}", port::free().unwrap());
    let place = Table::bare().place_of(&down);
    for args in [&["ping"][..], &COUNTS] {
        fails(place.run(args), "the endpoint could not be reached", "check that the server runs");
    }
}

/// Nothing of the person who runs the tests is found either.
#[test]
fn missing_keys_are_said_to_be_missing() {
    let table = Table::bare();
    let place = table.place();
    let mut ping = place.command(&["ping"]);
    ping.env_clear().env("HOME", place.path(".")).env("AWS_EC2_METADATA_DISABLED", "true");
    let ended = ping.env("STORAGEBOX_URL", table.url()).output().unwrap();
    fails(ended.into(), "no credentials", "credentials");
}

#[test]
fn a_url_that_is_wrong_is_bad_usage() {
    let table = Table::bare();
    for (url, because) in [
        ("dynamodb:hunter2", "must be dynamodb://region/table"),
        ("dynamodb://AKIA:hunter2@eu-west-1/shop", "credentials never stand in it"),
        ("dynamodb://eu-west-1/shop?hunter2=on", "has a query key that is not known"),
        ("dynamodb://eu-west-1/shop?endpoint=http://AKIA:hunter2@host", "hold no credentials"),
        ("dynamodb://eu-west-1/shop?shards=hunter2", "must be a whole number"),
        ("dynamodb://eu-west-1/hunter2!", "must have 3 to 255 of the characters"),
    ] {
        let ended = table.place_of(url).run(&["ping"]).exits(2);
        assert!(!ended.stderr.contains("hunter2"), "{}", ended.stderr);
        let lines: Vec<_> = ended.stderr.lines().collect();
        assert!(lines[0].starts_with("error: cannot open the store on dynamo: "), "{}", ended.stderr);
        assert!(lines[0].contains(because) && lines[1].contains("STORAGEBOX_URL"), "{}", ended.stderr);
    }
}

/// Whole replies and the key's id are at hand in a driver that is asked for all it knows.
#[test]
fn a_filter_for_everything_tells_no_secret() {
    const KEY: &str = "AKIA7D31F0C2E9B8";
    let table = Table::bare();
    let with_keys = |command: &mut Command| {
        command.env("AWS_ACCESS_KEY_ID", KEY);
    };
    let quiet = Quiet { place: table.place(), keys: &[KEY, SECRET], with_keys };
    quiet.tells_no_secret();
    quiet.hears_what_is_named("aws_smithy_runtime");
}
