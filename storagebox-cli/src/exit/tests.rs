use super::*;

fn shown(step: Step, error: Error) -> (String, &'static str, Exit) {
    let failure = step.failed(error).on("postgres");
    (failure.to_string(), failure.help(), failure.exit())
}

/// What was tried, where, what happened, and the next step.
#[test]
fn a_store_that_fails_is_told_with_the_next_step() {
    for (step, kind, next) in [
        (Step::Take, ErrorKind::Unavailable, "check that the server runs"),
        (Step::Take, ErrorKind::NotSetUp, "run `storagebox setup --url ...`"),
        (Step::Take, ErrorKind::Denied, "check the user and the password"),
        (Step::SetUp, ErrorKind::Denied, "setup needs a user that may create things"),
        (Step::SetUp, ErrorKind::NotSetUp, "create that first"),
        (Step::Add, ErrorKind::Throttled, "run the same command again later"),
        (Step::Take, ErrorKind::OutcomeUnknown, "it may have taken effect"),
        (Step::List, ErrorKind::Corrupt, "examine the store"),
    ] {
        let (message, help, exit) = shown(step, Error::new(kind, "this happened"));
        assert_eq!(message, format!("cannot {step} on postgres: this happened"));
        assert!(help.contains(next), "{kind:?}: {help}");
        assert_eq!(exit, Exit::StoreFailed, "{kind:?}");
    }
}

#[test]
fn a_store_without_a_server_is_given_no_advice_about_one() {
    for kind in [ErrorKind::Unavailable, ErrorKind::Denied] {
        for step in [Step::SetUp, Step::Take] {
            let help = step.help(&Error::new(kind, "this happened").on("sqlite"));
            assert!(help.contains("the file") && !help.contains("password") && !help.contains("server"), "{help}");
        }
    }
}

/// What is damaged may be a table, a file or an answer as well.
#[test]
fn no_advice_speaks_of_a_record_or_a_cause_that_is_not_named() {
    let named = Error::corrupt("the schema", "it has another epoch");
    for error in [named, Error::new(ErrorKind::Corrupt, "the file is damaged; restore it from a copy")] {
        for advice in [Step::List.help(&error), error.kind().advice()] {
            assert!(!advice.contains("record") && !advice.contains("cause"), "{advice}");
        }
    }
}

#[test]
fn a_program_is_told_the_kind_and_whether_it_may_have_taken_effect() {
    let failure = Step::Take.failed(Error::unknown("lost").on("redis"));
    let expected = serde_json::json!({
        "error": "cannot take an item on redis: lost",
        "help": failure.help(),
        "exit_code": 3,
        "kind": "OutcomeUnknown",
        "certainty": "Unknown",
        "retryable": true,
        "backend": "redis",
    });
    assert_eq!(failure.answer().json(), expected);
    let without_a_store = Failure::OutIsRejects.answer().json();
    assert_eq!(without_a_store["exit_code"], 2);
    assert_eq!(without_a_store.get("kind"), None);
}

#[test]
fn the_root_of_a_failed_connection_is_told_and_nothing_of_what_is_stored() {
    let lost = || Error::unknown("lost").caused_by(io::Error::other("no route\u{1b} to host"));
    let failed = |kind| Step::Ping.failed(Error::new(kind, "this happened").caused_by(lost()));
    // Errors of these kinds say that the cause says why.
    for kind in [ErrorKind::Unavailable, ErrorKind::Misconfigured, ErrorKind::Unsupported, ErrorKind::Denied] {
        assert_eq!(failed(kind).cause().as_deref(), Some("no route\u{1b} to host"), "{kind:?}");
    }
    assert_eq!(failed(ErrorKind::Corrupt).cause(), None);
    assert_eq!(Step::Ping.failed(Error::new(ErrorKind::Denied, "this happened")).cause(), None);
}

#[test]
fn an_unresolved_call_is_told_apart_from_one_that_did_nothing() {
    let error = || Error::new(ErrorKind::Unavailable, "the server went away");
    assert!(!shown(Step::Take, error()).1.contains("may have taken effect"));
    assert!(shown(Step::Take, error().after_unresolved()).1.contains("may have taken effect"));
    let in_doubt = shown(Step::Change, error().unrepeatable().after_unresolved()).1;
    assert!(in_doubt.contains("running this again may do it twice"), "{in_doubt}");
    assert!(!shown(Step::Change, error().unrepeatable()).1.contains("twice"));
}

#[test]
fn what_the_caller_must_change_is_bad_input() {
    for step in [Step::Open, Step::List] {
        let (_, _, exit) = shown(step, Error::invalid("url", "is no URL"));
        assert_eq!(exit, Exit::BadInput);
    }
}

#[test]
fn the_stores_own_name_for_itself_stands() {
    let failure = Step::Count.failed(Error::unknown("no answer").on("redis")).on("postgres");
    assert_eq!(failure.to_string(), "cannot count the items on redis: no answer");
}
