//! What is said of a bad command line. A URL in the wrong place is shown as its scheme alone.

use clap::Error;
use clap::error::ContextValue;

const AUTHORITY: &str = "://";

pub(super) fn without_urls(mut error: Error) -> Error {
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
            let safe = tips.iter().filter(|tip| !tip.to_string().contains(AUTHORITY));
            ContextValue::StyledStrs(safe.cloned().collect())
        }
        value => value.clone(),
    }
}

fn mask_text(text: &str) -> String {
    match text.split_once(AUTHORITY) {
        Some((scheme, _)) => format!("{scheme}{AUTHORITY}..."),
        None => text.to_owned(),
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
            let shown = without_urls(error).render().ansi().to_string();
            assert!(!shown.contains("secret") && !shown.contains("vouchers"), "{args:?}: {shown}");
            assert!(shown.contains("Usage") || shown.contains("--help"), "{args:?}: {shown}");
        }
    }

    #[test]
    fn the_rest_is_said_as_it_is() {
        let error = Cli::try_parse_from(["storagebox", "pong"]).unwrap_err();
        let before = error.render().to_string();
        assert_eq!(without_urls(error).render().to_string(), before);
        assert!(before.contains("'pong'") && before.contains("'ping'"), "{before}");
    }
}
