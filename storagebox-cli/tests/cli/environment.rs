//! Text from outside: variables that name a store, and variables that a driver would read itself.

use std::process::Stdio;

use crate::support::Place;

/// If a URL with a line end were accepted, a second store would be created beside the intended store.
#[cfg(feature = "sqlite")]
#[test]
fn a_url_with_a_line_end_is_refused() {
    let place = Place::without_url();
    place.run(&["setup", "--url", "sqlite:shop.db"]).exits(0);
    place.run(&["setup", "--url", "sqlite:other.db"]).exits(0);
    let before = place.names();
    for (odd, told) in
        [("\n", "a line feed"), ("\r\n", "a line feed"), ("\r", "a carriage return"), ("\t", "a tab"), (" ", "a space")]
    {
        let odd = format!("sqlite:shop.db{odd}");
        let told = format!("url ends with {told} (U+00");
        let certify: &[_] = if cfg!(feature = "conform") { &["conform"] } else { &["ping"] };
        for command in [&["setup"][..], &["ping"], &["bank", "counts", "n"], &["demo"], certify] {
            let ended = place.command(command).env("STORAGEBOX_URL", &odd).output().unwrap();
            let said = String::from_utf8(ended.stderr).unwrap();
            assert_eq!(ended.status.code(), Some(2), "{command:?}: {said}");
            assert!(said.contains(&told) && !said.contains("shop.db"), "{command:?}: {said}");
        }
        let import = ["bank", "import", "n", "--url", "sqlite:other.db"];
        let ended = place.command(&import).env("STORAGEBOX_FROM_URL", &odd).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(said.contains(&told), "{said}");
        let ended = place.run(&["ping", "--url", &odd]).exits(2);
        assert!(ended.stderr.contains(&told), "{}", ended.stderr);
    }
    assert_eq!(place.names(), before);
}

/// A line of an `.env` file may end with a comment. A URL that is joined from several variables may contain a space.
#[cfg(feature = "sqlite")]
#[test]
fn a_url_with_a_comment_or_a_space_is_refused() {
    let place = Place::without_url();
    place.run(&["setup", "--url", "sqlite:shop.db"]).exits(0);
    let before = place.names();
    for (odd, told) in [
        ("sqlite:shop.db # the shop's", "url must not contain a #; write it as %23"),
        ("sqlite:shop.db#old", "url must not contain a #; write it as %23"),
        ("sqlite:shop.db ?remember=7d", "the address of the url ends with a space (U+0020)"),
        ("sqlite:shop.db?remember=7d &combining=on", "a key or a value of the url ends with a space (U+0020)"),
        ("sqlite:sh\u{ad}op.db", "url has a character without width (U+00AD) as character 10"),
    ] {
        let ended = place.command(&["setup"]).env("STORAGEBOX_URL", odd).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{odd}: {said}");
        assert!(said.contains(told) && !said.contains("shop.db"), "{odd}: {said}");
    }
    assert_eq!(place.names(), before);
}

/// A shell loop over the lines of a file may leave a carriage return in each argument. A carriage return in an id would
/// give one person two codes.
#[test]
fn an_argument_with_a_line_end_is_refused() {
    let place = Place::new();
    for args in [
        &["bank", "take", "n", "ada\r"][..],
        &["bank", "holder", "n", "A-1\r\n"],
        &["bank", "withdraw", "n", "A-1\r"],
        &["dedup", "get", "n", "ada\r"],
        &["dedup", "record", "n", "ada", "value", "--op", "me\n"],
        &["token", "create", "n", "ada\r"],
        &["counter", "add", "n", "ada\r", "1", "--op", "me"],
        &["ordered", "delete", "n", "ada", "--at", "1", "--stamps", "sequence", "--writer", "me\r"],
    ] {
        let ended = place.run(args).exits(2);
        assert!(ended.stderr.contains("ends with a line end; remove the line end"), "{args:?}: {}", ended.stderr);
    }
    for (odd, told) in
        [("n\r", "the namespace ends with a carriage return"), (" n", "the namespace begins with a space")]
    {
        let ended = place.run(&["bank", "counts", odd]).exits(2);
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
    }
    place.run(&["dedup", "record", "n", "ada", "a value\r\n", "--op", "me"]).exits(0);
}

/// Variables such as `PGHOST` would make one URL lead to different servers in different shells.
#[cfg(feature = "postgres")]
#[test]
fn postgres_variables_do_not_change_the_store() {
    for (url, variable, told) in [
        ("postgres:///shop", "PGHOST", "url names no host, and PGHOST would choose one"),
        ("postgres:///shop", "PGHOSTADDR", "url names no host, and PGHOSTADDR would choose one"),
        ("postgres://ada@127.0.0.1/shop", "PGPORT", "url names no port, and PGPORT would choose one"),
        ("postgres://ada@127.0.0.1:1", "PGDATABASE", "url names no database, and PGDATABASE would choose one"),
        ("postgres://127.0.0.1:1", "PGUSER", "url names no database, and PGUSER would choose one"),
        ("postgres://ada@127.0.0.1:1/shop", "PGOPTIONS", "PGOPTIONS would change the session"),
    ] {
        let place = Place::new().on(url).knowing([(variable, "127.0.0.1")]);
        let ended = place.run(&["ping"]).exits(2);
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
    }
    let named = Place::new().on("postgres://ada@127.0.0.1:1/shop");
    let named = named.knowing([("PGHOST", "192.0.2.1"), ("PGPORT", "2"), ("PGDATABASE", "other"), ("PGUSER", "eve")]);
    let ended = named.run(&["ping"]).exits(3);
    assert!(ended.stderr.contains("the server could not be reached"), "{}", ended.stderr);
}

/// With an unusable variable the SDK would panic, or retry for half a minute.
#[cfg(feature = "dynamo")]
#[test]
fn an_unusable_aws_variable_is_reported_or_ignored() {
    let place = Place::new().on("dynamodb://eu-west-1/shop?endpoint=http://127.0.0.1:1");
    let place = place.knowing([("AWS_ACCESS_KEY_ID", "ada"), ("AWS_SECRET_ACCESS_KEY", "hunter2")]);
    let cases = [
        ("AWS_ACCESS_KEY_ID", "ada\n", "the id of the access key ends with a line feed (U+000A)"),
        ("AWS_ACCESS_KEY_ID", "ad\u{e4}", "the id of the access key has characters that are not ASCII"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2\r", "the secret access key ends with a carriage return (U+000D)"),
        // The SDK trims the line end.
        ("AWS_SESSION_TOKEN", "hunter2\n", "the endpoint could not be reached"),
        ("AWS_RETRY_MODE", "legacy", "the endpoint could not be reached"),
        ("AWS_RETRY_MODE", "adaptive", "the endpoint could not be reached"),
        ("AWS_MAX_ATTEMPTS", "many", "the endpoint could not be reached"),
        ("AWS_USE_FIPS_ENDPOINT", "true", "the endpoint could not be reached"),
        ("AWS_USE_DUALSTACK_ENDPOINT", "true", "the endpoint could not be reached"),
        ("AWS_SDK_UA_APP_ID", "shop\n", "the endpoint could not be reached"),
    ];
    let ask = |variable, value| place.command(&["ping"]).env(variable, value).stderr(Stdio::piped()).spawn().unwrap();
    let asked = cases.map(|(variable, value, told)| (variable, told, ask(variable, value)));
    for (variable, told, asked) in asked {
        let said = String::from_utf8(asked.wait_with_output().unwrap().stderr).unwrap();
        assert!(said.contains(told) && !said.contains("hunter2") && !said.contains("panicked"), "{variable}: {said}");
    }
}

/// An endpoint variable would make the URL lead to a table on another service.
#[cfg(feature = "dynamo")]
#[test]
fn an_aws_endpoint_variable_is_refused() {
    for variable in ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB"] {
        for url in ["dynamodb://eu-west-1/shop", "dynamodb+articles://eu-west-1/items/records"] {
            let place = Place::new().on(url).knowing([(variable, "http://127.0.0.1:1")]);
            let ended = place.run(&["ping"]).exits(2);
            let told = format!("{variable} would make the SDK use another endpoint than the URL");
            assert!(ended.stderr.contains(&told), "{}", ended.stderr);
        }
    }
}

/// If a process has too many open files, the resolver reports that the host does not exist.
#[cfg(all(unix, feature = "redis", feature = "postgres"))]
#[test]
fn host_is_not_reported_missing_if_too_many_files_are_open() {
    for files in 6..=20 {
        for url in ["redis://localhost:1", "postgres://user@localhost:1/database"] {
            let mut limited = std::process::Command::new("sh");
            limited.args(["-c", "ulimit -n $0 && exec \"$@\"", &files.to_string(), env!("CARGO_BIN_EXE_storagebox")]);
            let ended = limited.args(["ping", "--url", url]).output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert!(
                !ended.status.success() && !said.contains("does not resolve") && !said.contains("no address"),
                "{files} files, {url}: {said}"
            );
        }
    }
}
