use super::*;
use crate::step;

fn shown(operation: &'static str, error: Error) -> (String, &'static str, Exit) {
    let failure = Failure::from(error.during(operation).on("postgres"));
    (failure.to_string(), failure.help(), failure.exit())
}

/// An error tells the operation, the backend, what happened, and the next step.
#[test]
fn a_store_that_fails_is_told_with_the_next_step() {
    for (operation, phrase, kind, next) in [
        ("take", "take an item", ErrorKind::Unavailable, "check that the server runs"),
        ("take", "take an item", ErrorKind::NotSetUp, "run `storagebox setup --url ...`"),
        ("take", "take an item", ErrorKind::Denied, "check the user and the password"),
        ("setup", "set up the store", ErrorKind::Denied, "setup needs a user that may create things"),
        ("setup", "set up the store", ErrorKind::NotSetUp, "create that first"),
        ("add", "add the items", ErrorKind::Throttled, "run the same command again later"),
        ("take", "take an item", ErrorKind::OutcomeUnknown, "it may have taken effect"),
        ("list", "list what is there", ErrorKind::Corrupt, "examine the store"),
        (step::ASSIGN, "assign an item", ErrorKind::Contention, "run the same command again later"),
    ] {
        let (message, help, exit) = shown(operation, Error::new(kind, "this happened"));
        assert_eq!(message, format!("cannot {phrase} on postgres: this happened"));
        assert!(help.contains(next), "{kind:?}: {help}");
        assert_eq!(exit, Exit::StoreFailed, "{kind:?}");
    }
}

#[test]
fn a_store_without_a_server_is_given_no_advice_about_one() {
    for kind in [ErrorKind::Unavailable, ErrorKind::Denied] {
        for operation in ["setup", "take"] {
            let help = help(&Error::new(kind, "this happened").during(operation).on("sqlite"));
            assert!(help.contains("the file") && !help.contains("password") && !help.contains("server"), "{help}");
        }
    }
}

/// A table, a file or an answer may be damaged.
#[test]
fn no_advice_speaks_of_a_record_or_a_cause_that_is_not_named() {
    let named = Error::corrupt("the schema", "it has another epoch");
    for error in [named, Error::new(ErrorKind::Corrupt, "the file is damaged; restore it from a copy")] {
        for advice in [help(&error), error.kind().advice()] {
            assert!(!advice.contains("record") && !advice.contains("cause"), "{advice}");
        }
    }
}

#[test]
fn a_program_is_told_the_kind_and_whether_it_may_have_taken_effect() {
    let failure = Failure::from(Error::unknown("lost").during("take").on("redis"));
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
    let failed = |kind| Failure::from(Error::new(kind, "this happened").during("ping").caused_by(lost()));
    // The messages of these kinds refer to the cause.
    for kind in [ErrorKind::Unavailable, ErrorKind::Misconfigured, ErrorKind::Unsupported, ErrorKind::Denied] {
        assert_eq!(failed(kind).cause().as_deref(), Some("no route\u{1b} to host"), "{kind:?}");
    }
    assert_eq!(failed(ErrorKind::Corrupt).cause(), None);
    assert_eq!(Failure::from(Error::new(ErrorKind::Denied, "this happened")).cause(), None);
}

#[test]
fn an_unresolved_call_is_told_apart_from_one_that_did_nothing() {
    let error = || Error::new(ErrorKind::Unavailable, "the server went away");
    assert!(!shown("take", error()).1.contains("may have taken effect"));
    assert!(shown("take", error().after_unresolved()).1.contains("may have taken effect"));
    let in_doubt = shown("apply", error().unrepeatable().after_unresolved()).1;
    assert!(in_doubt.contains("running this again may do it twice"), "{in_doubt}");
    assert!(!shown("apply", error().unrepeatable()).1.contains("twice"));
}

#[test]
fn what_the_caller_must_change_is_bad_input() {
    for operation in [step::OPEN, "list"] {
        let (_, _, exit) = shown(operation, Error::invalid("url", "is no URL"));
        assert_eq!(exit, Exit::BadInput);
    }
}

#[test]
fn a_part_that_is_not_opened_is_told_without_a_call() {
    let failure = Failure::from(Error::misconfigured("the strategy", "is another").on("redis"));
    assert_eq!(failure.to_string(), "cannot open the namespace on redis: the strategy is another");
    assert!(failure.help().contains("open it as it was created"), "{}", failure.help());
}
