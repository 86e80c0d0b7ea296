//! The errors of a table that is not as it should be. No error shows a key.

use std::process::Command;

use aws_sdk_dynamodb::types::{AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType};

use super::Table;
use crate::quiet::Quiet;
use crate::ready::{COUNTS, SECRET, fails, run};
use crate::stores::Store;

/// URLs that cannot be opened, each with a part of the error text.
pub(super) const WRONG_URLS: &[(&str, &str)] = &[
    ("dynamodb:hunter2", "must be dynamodb://region/table"),
    ("dynamodb://AKIA:hunter2@eu-west-1/shop", "a URL must not contain credentials"),
    ("dynamodb://eu-west-1/shop?hunter2=on", "has an unknown query key"),
    ("dynamodb://eu-west-1/shop?endpoint=http://AKIA:hunter2@host", "hold no credentials"),
    ("dynamodb://eu-west-1/shop?shards=hunter2", "must be a whole number"),
    ("dynamodb://eu-west-1/hunter2!", "must have 3 to 255 of the characters"),
];

#[test]
fn a_command_on_a_missing_table_advises_setup() {
    let table = Table::bare();
    fails(table.place().run(&COUNTS), "does not exist", "run `storagebox setup");
}

#[test]
fn a_table_with_other_keys_is_refused() {
    let table = Table::bare();
    table.raw(create_with_one_key);
    let refused = run(&table.place(), &["setup"], 2);
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
fn missing_credentials_are_reported() {
    let table = Table::bare();
    let place = table.place();
    let mut ping = place.command(&["ping"]);
    ping.env_clear().env("HOME", place.path(".")).env("AWS_EC2_METADATA_DISABLED", "true");
    let ended = ping.env("STORAGEBOX_URL", table.url()).output().unwrap();
    fails(ended.into(), "no credentials", "credentials");
}

/// The log of the driver would show whole replies and the id of the access key.
#[test]
fn a_log_filter_for_all_targets_shows_no_secret() {
    const KEY: &str = "AKIA7D31F0C2E9B8";
    let table = Table::bare();
    let with_keys = |command: &mut Command| {
        command.env("AWS_ACCESS_KEY_ID", KEY);
    };
    let quiet = Quiet { place: table.place(), keys: &[KEY, SECRET], with_keys };
    quiet.tells_no_secret();
    quiet.hears_what_is_named("aws_smithy_runtime");
}
