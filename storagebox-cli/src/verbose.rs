//! What `-v` shows: every call with its time, on standard error.

use std::io::{self, IsTerminal};

use console::colors_enabled_stderr;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::fmt::time::uptime;

/// The calls of this command, and why one was made again.
const CALLS: &str = "storagebox=debug";
/// And what each backend does for them.
const BACKENDS: &str = "storagebox=trace,storagebox_core=trace,storagebox_dynamo=trace,storagebox_memory=trace,\
                        storagebox_postgres=trace,storagebox_redis=trace,storagebox_sqlite=trace";

/// From here on. Without `-v` only what `RUST_LOG` asks for, which is nothing by default.
pub(crate) fn begin(verbose: u8) {
    let filter = match verbose {
        0 if std::env::var_os(EnvFilter::DEFAULT_ENV).is_none() => return,
        0 => EnvFilter::from_default_env(),
        verbose => EnvFilter::try_from_default_env().unwrap_or_else(|_| of(verbose)),
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal() && colors_enabled_stderr())
        .with_timer(uptime())
        .init();
}

fn of(verbose: u8) -> EnvFilter {
    EnvFilter::new(if verbose == 1 { CALLS } else { BACKENDS })
}
