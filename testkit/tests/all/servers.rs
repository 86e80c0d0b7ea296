//! The resolver, with a server that is there.

use std::process::Command;

use storagebox_testkit::servers;

use crate::psql::ask;

/// The resolver in a program of its own, where its variables can be set.
fn holder(variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut holder = Command::new(env!("CARGO_BIN_EXE_storagebox-testkit"));
    holder.env_remove("STORAGEBOX_TEST_POSTGRES_URL").env_remove("STORAGEBOX_TEST_SERVERS");
    let output = holder.envs(variables.iter().copied()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_server_from_local_programs_says_what_it_is() {
    let (code, said) = holder(&[("STORAGEBOX_TEST_SERVERS", "local")]);
    assert_eq!(code, Some(0), "{said}");
    let line = said.lines().next().unwrap();
    assert!(line.contains(", from local programs, postgres://postgres@127.0.0.1:"), "{line}");
}

#[test]
fn a_server_named_by_its_url_is_that_server() {
    let server = servers::shared_postgres().unwrap();
    assert_eq!(ask(server.url(), &["select 1"]).unwrap(), "1");
    let (code, said) = holder(&[(server.variable(), server.url()), ("STORAGEBOX_TEST_SERVERS", "local")]);
    assert_eq!(code, Some(0), "{said}");
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[0].contains(", named by STORAGEBOX_TEST_POSTGRES_URL, "), "{said}");
    assert_eq!(lines[1], server.url());
}

#[test]
fn a_wrong_variable_is_a_failure_that_names_it() {
    let cases = [
        (("STORAGEBOX_TEST_POSTGRES_URL", "mysql://a@b"), "STORAGEBOX_TEST_POSTGRES_URL: "),
        (("STORAGEBOX_TEST_SERVERS", "cloud"), "STORAGEBOX_TEST_SERVERS is `cloud`"),
    ];
    for (variable, expected) in cases {
        let (code, said) = holder(&[variable]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.starts_with(expected), "{said}");
    }
}

#[test]
fn programs_that_were_named_are_not_looked_for_elsewhere() {
    let variables = [("STORAGEBOX_TEST_SERVERS", "local"), ("STORAGEBOX_TEST_POSTGRES_BIN", "/nowhere")];
    let (code, said) = holder(&variables);
    assert_eq!(
        (code, said.trim_end()),
        (Some(2), "STORAGEBOX_TEST_POSTGRES_BIN is set, but there is no /nowhere/initdb")
    );
}
