//! What is said of a bad command line. A URL in the wrong place is shown as its scheme alone, and what cannot be seen is
//! spelt out: an argument of a script may come from a stranger.

use clap::Error;
use clap::error::ContextValue;

use crate::text::{is_printable, printable};

const AUTHORITY: &str = "://";

pub(super) fn made_safe(mut error: Error) -> Error {
    let masked: Vec<_> = error.context().map(|(kind, value)| (kind, mask(value))).collect();
    for (kind, value) in masked {
        error.insert(kind, value);
    }
    error
}

fn mask(value: &ContextValue) -> ContextValue {
    match value {
        ContextValue::String(text) => ContextValue::String(mask_text(text)),
        ContextValue::Strings(texts) => {
            ContextValue::Strings(texts.iter().map(|text| mask_text(text)).collect())
        }
        // A tip that repeats what was typed.
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
    fn a_url_in_the_wrong_place_keeps_its_password() {
        let assigned = format!("--ulr={URL}");
        let attached = format!("--url{URL}");
        for args in [
            &[URL][..],
            &["ping", URL],
            &["bank", URL],
            &["ping", "--ulr", URL],
            &["ping", &assigned],
            &["ping", &attached],
            &["bank", "take", "--bank", "b", &attached],
            &["bank", "take", "--bank", "b", "ada", URL],
            &["bank", "take", "--bank", "b", "ada", "--for", URL],
            &["bank", "list", "--bank", "b", "--limit", URL],
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
    fn an_argument_that_a_terminal_would_obey_is_spelt_out() {
        for hostile in ["\u{1b}]0;owned\u{7}", "\u{9b}2J", "ping\u{202e}", "pin\u{200b}g"] {
            for args in [
                &[hostile][..],
                &["ping", hostile],
                &["--ulr", hostile],
                &["bank", hostile],
                &["bank", "take", "--bank", "b", "ada", "--for", hostile],
                &["bank", "take", "--bank", "b", "ada", hostile],
                &["counter", "get", "a", "--strategy", hostile],
                &["completions", hostile],
                &["ordered", "list", "--stamps", hostile],
            ] {
                let error = Cli::try_parse_from(["storagebox"].iter().chain(args)).unwrap_err();
                let shown = made_safe(error).render().to_string();
                assert!(is_printable(&shown.replace('\n', "")), "{args:?}: {shown:?}");
                assert!(shown.contains("Usage") || shown.contains("--help"), "{args:?}: {shown}");
            }
        }
    }

    #[test]
    fn the_rest_is_said_as_it_is() {
        let error = Cli::try_parse_from(["storagebox", "pong"]).unwrap_err();
        let before = error.render().to_string();
        assert_eq!(made_safe(error).render().to_string(), before);
        assert!(before.contains("'pong'") && before.contains("'ping'"), "{before}");
    }
}
