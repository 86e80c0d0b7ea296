//! Errors of the command line. A URL in the wrong place is shown as its scheme, and invisible characters are escaped,
//! because an argument of a script may come from a stranger.

use std::ffi::OsString;
use std::process::exit;

use clap::Error;
use clap::error::{ContextValue, ErrorKind};

use crate::answer::Answer;
use crate::exit::Exit;
use crate::message::eprint_json;
use crate::text::{is_printable, printable};

const AUTHORITY: &str = "://";

/// Returns whether the arguments, which may be invalid, ask for errors in JSON.
pub(super) fn wants_json(args: &[OsString]) -> bool {
    args.iter().take_while(|&arg| arg != "--").any(|arg| arg == "--json")
}

/// Prints the error, or the requested help, and ends the process.
pub(super) fn end(error: Error, as_json: bool) -> ! {
    let error = made_safe(error);
    if as_json && error.use_stderr() {
        eprint_json(&answer(&error).json());
        exit(error.exit_code());
    }
    error.exit()
}

/// Returns the paragraphs of clap's message as fields: the error, the help, the exit code and the usage.
fn answer(error: &Error) -> Answer {
    let text = error.render().to_string();
    let mut paragraphs: Vec<_> = text.trim_end().split("\n\n").map(in_one_line).collect();
    let usage = paragraphs.iter().position(|text| text.starts_with("Usage: "));
    let usage = usage.map(|place| paragraphs.remove(place));
    let (message, help) = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            ("a subcommand is missing".to_owned(), "For more information, try '--help'.".to_owned())
        }
        _ => (paragraphs.remove(0), paragraphs.join(" ")),
    };
    let answer = Answer::new(Exit::BadInput).text("error", message.trim_start_matches("error: "));
    let answer = answer.text("help", help).figure("exit_code", error.exit_code().unsigned_abs().into());
    match usage {
        Some(usage) => answer.text("usage", usage.trim_start_matches("Usage: ")),
        None => answer,
    }
}

fn in_one_line(paragraph: &str) -> String {
    paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

fn made_safe(mut error: Error) -> Error {
    let masked: Vec<_> = error.context().map(|(kind, value)| (kind, mask(value))).collect();
    for (kind, value) in masked {
        error.insert(kind, value);
    }
    error
}

fn mask(value: &ContextValue) -> ContextValue {
    match value {
        ContextValue::String(text) => ContextValue::String(mask_text(text)),
        ContextValue::Strings(texts) => ContextValue::Strings(texts.iter().map(|text| mask_text(text)).collect()),
        // A tip may repeat an argument.
        ContextValue::StyledStrs(tips) => {
            let texts = tips.iter().map(|tip| (tip, tip.to_string()));
            let safe = texts.filter(|(_, text)| !text.contains(AUTHORITY) && is_printable(text));
            let safe = safe.map(|(tip, _)| tip);
            ContextValue::StyledStrs(safe.cloned().collect())
        }
        value => value.clone(),
    }
}

fn mask_text(text: &str) -> String {
    match text.split_once(AUTHORITY) {
        Some((scheme, _)) => printable(&format!("{scheme}{AUTHORITY}...")),
        None => printable(text),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::Cli;
    use super::*;

    const URL: &str = "postgres://ada:secret@host/vouchers";

    #[test]
    fn a_url_in_the_wrong_place_shows_no_password() {
        let assigned = format!("--ulr={URL}");
        let attached = format!("--url{URL}");
        for args in [
            &[URL][..],
            &["ping", URL],
            &["bank", URL],
            &["ping", "--ulr", URL],
            &["ping", &assigned],
            &["ping", &attached],
            &["bank", "take", "b", &attached],
            &["bank", "take", "b", "ada", URL],
            &["bank", "take", "b", "ada", "--for", URL],
            &["bank", "list", "b", "--limit", URL],
            &["--url", URL, "--url", URL, "ping"],
            &["--url", URL, "bank"],
            &["--url", URL],
        ] {
            let error = Cli::try_parse_from(["storagebox"].iter().chain(args)).unwrap_err();
            let shown = made_safe(error).render().ansi().to_string();
            assert!(!shown.contains("secret") && !shown.contains("vouchers"), "{args:?}: {shown}");
            assert!(shown.contains("Usage") || shown.contains("--help"), "{args:?}: {shown}");
        }
    }

    #[test]
    fn an_argument_with_control_characters_is_escaped() {
        for hostile in ["\u{1b}]0;owned\u{7}", "\u{9b}2J", "ping\u{202e}", "pin\u{200b}g"] {
            for args in [
                &[hostile][..],
                &["ping", hostile],
                &["--ulr", hostile],
                &["bank", hostile],
                &["bank", "take", "b", "ada", "--for", hostile],
                &["bank", "take", "b", "ada", hostile],
                &["counter", "get", "n", "a", "--strategy", hostile],
                &["completions", hostile],
                &["ordered", "list", "n", "--stamps", hostile],
            ] {
                let error = Cli::try_parse_from(["storagebox"].iter().chain(args)).unwrap_err();
                let shown = made_safe(error).render().to_string();
                assert!(is_printable(&shown.replace('\n', "")), "{args:?}: {shown:?}");
                assert!(shown.contains("Usage") || shown.contains("--help"), "{args:?}: {shown}");
            }
        }
    }

    #[test]
    fn an_error_about_a_plain_argument_is_unchanged() {
        let error = Cli::try_parse_from(["storagebox", "pong"]).unwrap_err();
        let before = error.render().to_string();
        assert_eq!(made_safe(error).render().to_string(), before);
        assert!(before.contains("'pong'") && before.contains("'ping'"), "{before}");
    }

    fn told(args: &[&str]) -> serde_json::Value {
        let error = Cli::try_parse_from(["storagebox"].iter().chain(args)).unwrap_err();
        answer(&made_safe(error)).json()
    }

    #[test]
    fn json_error_has_error_help_and_usage_fields() {
        let missing = told(&["bank", "take", "vouchers"]);
        assert_eq!(missing["error"], "the following required arguments were not provided: <ID>");
        assert_eq!(missing["usage"], "storagebox bank take <NAMESPACE> <ID>");
        assert_eq!((&missing["exit_code"], &missing["kind"]), (&2.into(), &().into()));
        let mistyped = told(&["pong"]);
        assert_eq!(mistyped["error"], "unrecognized subcommand 'pong'");
        assert!(mistyped["help"].as_str().unwrap().contains("'ping'"), "{mistyped}");
        assert_eq!(told(&["bank"])["error"], "a subcommand is missing");
        assert_eq!(told(&[])["usage"], "storagebox [OPTIONS] <COMMAND>");
    }

    #[test]
    fn json_after_the_double_dash_is_ignored() {
        let wants = |args: &[&str]| wants_json(&args.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(wants(&["storagebox", "bank", "--json"]));
        assert!(!wants(&["storagebox", "bank"]));
        assert!(!wants(&["storagebox", "dedup", "run", "jobs", "a", "--", "x", "--json"]));
    }
}
