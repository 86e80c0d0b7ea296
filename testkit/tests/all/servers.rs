//! Tests of the search for a server, with servers that exist.

use std::process::Command;

use storagebox_testkit::servers;

use crate::psql::ask;

/// Runs the program that finds a server, with these environment variables. Returns its exit code and its output.
fn holder(server: &str, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut holder = Command::new(env!("CARGO_BIN_EXE_storagebox-testkit"));
    holder.arg(server).env_remove("STORAGEBOX_TEST_SERVERS");
    holder.env_remove("STORAGEBOX_TEST_POSTGRES_URL").env_remove("STORAGEBOX_TEST_DYNAMO_URL");
    holder.env_remove("STORAGEBOX_TEST_REDIS_URL").env_remove("STORAGEBOX_TEST_NATS_URL");
    holder.env_remove("STORAGEBOX_TEST_RABBITMQ_URL");
    let output = holder.envs(variables.iter().copied()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_server_from_local_programs_is_described_in_one_line() {
    let cases = [
        ("postgres", ", from local programs, postgres://postgres@127.0.0.1:"),
        ("dynamodb", "DynamoDB by Dynoxide/"),
        ("redis", ", from local programs, redis://127.0.0.1:"),
        ("nats", ", from local programs, nats://127.0.0.1:"),
        ("dynamodb", ", from local programs, dynamodb://us-east-1/storagebox?endpoint=http://127.0.0.1:"),
    ];
    for (server, expected) in cases {
        let (code, said) = holder(server, &[("STORAGEBOX_TEST_SERVERS", "local")]);
        assert_eq!(code, Some(0), "{said}");
        let line = said.lines().next().unwrap();
        assert!(line.contains(expected), "{line}");
    }
}

#[test]
fn the_server_at_a_given_url_is_used() {
    let server = servers::shared_postgres().unwrap();
    assert_eq!(ask(server.url(), &["select 1"]).unwrap(), "1");
    let variables = [(server.variable(), server.url()), ("STORAGEBOX_TEST_SERVERS", "local")];
    let (code, said) = holder("postgres", &variables);
    assert_eq!(code, Some(0), "{said}");
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[0].contains(", named by STORAGEBOX_TEST_POSTGRES_URL, "), "{said}");
    assert_eq!(lines[1], server.url());
}

#[test]
fn a_wrong_variable_is_a_failure_that_names_the_variable() {
    let cases = [
        ("postgres", ("STORAGEBOX_TEST_POSTGRES_URL", "mysql://a@b"), "STORAGEBOX_TEST_POSTGRES_URL: "),
        ("dynamodb", ("STORAGEBOX_TEST_DYNAMO_URL", "dynamodb://x"), "STORAGEBOX_TEST_DYNAMO_URL: "),
        ("redis", ("STORAGEBOX_TEST_REDIS_URL", "http://x"), "STORAGEBOX_TEST_REDIS_URL: "),
        ("nats", ("STORAGEBOX_TEST_NATS_URL", "http://x"), "STORAGEBOX_TEST_NATS_URL: "),
        ("rabbitmq", ("STORAGEBOX_TEST_RABBITMQ_URL", "http://x"), "STORAGEBOX_TEST_RABBITMQ_URL: "),
        ("dynamodb", ("STORAGEBOX_TEST_SERVERS", "cloud"), "STORAGEBOX_TEST_SERVERS is `cloud`"),
    ];
    for (server, variable, expected) in cases {
        let (code, said) = holder(server, &[variable]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.starts_with(expected), "{said}");
    }
}

#[test]
fn programs_are_searched_only_in_the_named_folder() {
    let variables = [("STORAGEBOX_TEST_SERVERS", "local"), ("STORAGEBOX_TEST_POSTGRES_BIN", "/nowhere")];
    let (code, said) = holder("postgres", &variables);
    assert_eq!(
        (code, said.trim_end()),
        (Some(2), "STORAGEBOX_TEST_POSTGRES_BIN is set, but there is no /nowhere/initdb")
    );
}

#[test]
fn an_unknown_kind_of_server_is_refused() {
    let (code, said) = holder("oracle", &[]);
    let expected = "there is no server `oracle`; it may be `postgres`, `dynamodb`, `redis`, `nats` or `rabbitmq`";
    assert_eq!((code, said.trim_end()), (Some(2), expected));
}
