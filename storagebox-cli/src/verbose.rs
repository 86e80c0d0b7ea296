//! The log of `-v` on standard error: every call with its duration.

use std::io::{self, IsTerminal};

use console::colors_enabled_stderr;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::filter::{Directive, FilterExt, LevelFilter, filter_fn};
use tracing_subscriber::fmt::format::{FmtSpan, Writer, debug_fn};
use tracing_subscriber::fmt::time::uptime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use crate::message::{Kind, eprint_message};
use crate::text::printable;

/// The filter of `-v`: the calls of this command, and why a call was repeated.
const CALLS: &str = "storagebox=debug";
/// The filter of `-vv`: what `-v` shows, and what each backend does for a call.
const BACKENDS: &str = "storagebox=trace,storagebox_core=trace,storagebox_dynamo=trace,storagebox_memory=trace,\
                        storagebox_postgres=trace,storagebox_redis=trace,storagebox_sqlite=trace";

/// Starts the log. Without `-v`, the log contains only what `RUST_LOG` selects.
pub(crate) fn begin(verbose: u8) {
    let asked = std::env::var(EnvFilter::DEFAULT_ENV).ok();
    let filter = match verbose {
        0 if asked.is_none() => return,
        0 => usable(asked.as_deref().unwrap_or_default()),
        verbose => EnvFilter::try_from_default_env().unwrap_or_else(|_| of(verbose)),
    };
    let named: Vec<_> = named(&asked.unwrap_or_default()).map(str::to_owned).collect();
    let heard = filter_fn(move |about| is_heard(about.target(), &named));
    tracing_subscriber::registry().with(lines().with_filter(filter.and(heard))).init();
}

fn lines() -> impl Layer<Registry> {
    let fields = debug_fn(|to: &mut Writer<'_>, field, value| {
        let value = printable(&format!("{value:?}"));
        match field.name() {
            // A plain message is formatted as a text in quotes.
            "message" => write!(to, "{}", value.trim_matches('"')),
            name => write!(to, "{name}={value}"),
        }
    });
    tracing_subscriber::fmt::layer()
        .fmt_fields(fields.delimited(" "))
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal() && colors_enabled_stderr())
        .with_timer(uptime())
}

/// Returns a filter of the valid directives.
fn usable(filter: &str) -> EnvFilter {
    let directives = filter.split(',').filter(|directive| !directive.is_empty());
    let (known, unknown): (Vec<_>, Vec<_>) = directives.partition(|text| text.parse::<Directive>().is_ok());
    // The library would print the invalid directives unescaped.
    for directive in unknown {
        eprint_message(Kind::Warning, format_args!("RUST_LOG: {directive} is no filter, and is ignored"));
    }
    EnvFilter::new(known.join(","))
}

fn of(verbose: u8) -> EnvFilter {
    EnvFilter::new(if verbose == 1 { CALLS } else { BACKENDS })
}

/// Returns whether a target is logged.
fn is_heard(target: &str, named: &[String]) -> bool {
    let library = target.split("::").next().unwrap_or_default();
    let is_ours = library == "storagebox" || library.starts_with("storagebox_");
    let is_of = |name: &String| target.strip_prefix(name.as_str()).is_some_and(ends_a_name);
    // A driver logs whole replies with items and keys, so the filter must name the driver.
    is_ours || named.iter().any(is_of)
}

fn ends_a_name(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with("::")
}

/// Returns the targets that a filter names, such as `aws_smithy_runtime` in `aws_smithy_runtime=trace,warn`.
fn named(filter: &str) -> impl Iterator<Item = &str> {
    let names = filter.split(',').filter_map(|directive| directive.split(['=', '[']).next());
    names.map(str::trim).filter(|name| !name.is_empty() && name.parse::<LevelFilter>().is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hears(filter: &str, target: &str) -> bool {
        is_heard(target, &named(filter).map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_driver_is_logged_only_if_the_filter_names_it() {
        let driver = "aws_smithy_runtime::client::orchestrator";
        for filter in ["trace", "", "5", "aws=trace", "a=trace", "[call]=trace", "storagebox=trace,debug", "aws_smithy"]
        {
            assert!(!hears(filter, driver), "{filter}");
            assert!(hears(filter, "storagebox::retry") && hears(filter, "storagebox_dynamo"), "{filter}");
        }
        for filter in ["aws_smithy_runtime", "warn, aws_smithy_runtime::client=trace", "aws_smithy_runtime[a]=trace"] {
            assert!(hears(filter, driver), "{filter}");
            assert!(!hears(filter, "hyper_util::client"), "{filter}");
        }
        assert!(!hears("trace", "storageboxes"));
    }
}
