use super::*;
use crate::step;

fn shown(operation: &'static str, error: Error) -> (String, Cow<'static, str>, Exit) {
    let failure = Failure::from(error.during(operation).on("postgres"));
    (failure.to_string(), failure.help(), failure.exit())
}

#[test]
fn error_names_the_operation_backend_cause_and_next_step() {
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
fn advice_for_sqlite_names_the_file_and_no_server() {
    for kind in [ErrorKind::Unavailable, ErrorKind::Denied] {
        for operation in ["setup", "take"] {
            let help = help(&Error::new(kind, "this happened").during(operation).on("sqlite"));
            assert!(help.contains("the file") && !help.contains("password") && !help.contains("server"), "{help}");
        }
    }
}

/// The data may be in a table, in a file or in an answer, and the advice must fit all three.
#[test]
fn advice_on_corrupt_data_names_no_record_and_no_cause() {
    let named = Error::corrupt("the schema", "it has another epoch");
    for error in [named, Error::new(ErrorKind::Corrupt, "the file is damaged; restore it from a copy")] {
        for advice in [&*help(&error), error.kind().advice()] {
            assert!(!advice.contains("record") && !advice.contains("cause"), "{advice}");
        }
    }
}

#[test]
fn an_error_as_json_has_kind_and_certainty() {
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
fn the_root_cause_is_shown_only_for_access_errors() {
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
fn the_advice_says_if_a_call_may_have_taken_effect() {
    let error = || Error::new(ErrorKind::Unavailable, "the server went away");
    assert!(!shown("take", error()).1.contains("may have taken effect"));
    assert!(shown("take", error().after_unresolved()).1.contains("may have taken effect"));
    let in_doubt = shown("apply", error().unrepeatable().after_unresolved()).1;
    assert!(in_doubt.contains("running this again may do it twice"), "{in_doubt}");
    assert!(!shown("apply", error().unrepeatable()).1.contains("twice"));
}

#[test]
fn a_doubt_is_told_for_every_kind_and_is_no_usage_error() {
    use ErrorKind::{Corrupt, Denied, InvalidInput, Misconfigured, NotSetUp, TooLarge, Unsupported};
    for kind in [Corrupt, Denied, InvalidInput, Misconfigured, NotSetUp, TooLarge, Unsupported] {
        let (_, certain, _) = shown("take", Error::new(kind, "this happened"));
        let (_, help, exit) = shown("take", Error::new(kind, "this happened").after_unresolved());
        assert!(help.contains(&*certain) && help.contains("it may have taken effect"), "{kind:?}: {help}");
        assert!(!certain.contains("it may have taken effect"), "{kind:?}: {certain}");
        assert_eq!(exit, Exit::StoreFailed, "{kind:?}");
    }
}

/// The server went away between two batches.
#[test]
fn a_certain_refusal_after_other_changes_is_a_doubt_that_still_says_what_to_check() {
    let refused = || {
        let error = Error::new(ErrorKind::Unavailable, "the server could not be reached");
        Failure::from(error.during("add").on("postgres").caused_by(io::Error::other("refused")))
    };
    let certain = refused().after(None).answer().json();
    assert_eq!((&certain["kind"], &certain["certainty"]), (&"Unavailable".into(), &"NotApplied".into()));
    for (doubt, retryable, advised) in [
        (Doubt::Repeatable, true, "run the same command again, which does nothing twice"),
        (Doubt::Forgets { version: 7 }, true, "run this again with --version 7"),
        (Doubt::Twice, false, "read the value first"),
    ] {
        let told = refused().after(Some(doubt)).answer().json();
        assert_eq!((&told["kind"], &told["certainty"]), (&"OutcomeUnknown".into(), &"Unknown".into()));
        assert_eq!((&told["retryable"], &told["cause"]), (&retryable.into(), &"refused".into()), "{told}");
        let help = told["help"].as_str().unwrap();
        assert!(help.contains("check that the server runs") && help.contains(advised), "{help}");
    }
}

/// The error says that a repetition may count twice, although the store recognises repetitions for a while.
#[test]
fn the_doubt_of_an_error_is_not_lessened() {
    let lost = Failure::from(Error::unknown("lost").during("apply").unrepeatable());
    let help = lost.after(Some(Doubt::Repeatable)).help().into_owned();
    assert!(help.contains("read the value first"), "{help}");
}

#[test]
fn an_invalid_argument_exits_with_bad_input() {
    for operation in [step::OPEN, "list"] {
        let (_, _, exit) = shown(operation, Error::invalid("url", "is no URL"));
        assert_eq!(exit, Exit::BadInput);
    }
}

#[test]
fn error_without_an_operation_is_shown_as_a_failed_open() {
    let failure = Failure::from(Error::misconfigured("the strategy", "is another").on("redis"));
    assert_eq!(failure.to_string(), "cannot open the namespace on redis: the strategy is another");
    assert!(failure.help().contains("open it as it was created"), "{}", failure.help());
}
