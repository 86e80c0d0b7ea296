//! The figures of the demo, for people and for programs.

use std::sync::atomic::Ordering;

use super::DemoReport;
use crate::answer::{Answer, Field};
use crate::check::Mismatch;
use crate::cli::Demo;
use crate::exit::Exit;

pub(super) fn answer(args: &Demo, shown: &DemoReport) -> Answer {
    let DemoReport { seed, faults, audit, mismatches } = shown;
    let load = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
    let verdict = if mismatches.is_empty() { "ok" } else { "FAILED" };
    Answer::new(Exit::Done)
        .figure("people", args.people.into())
        .figure("items", audit.loaded.added)
        .figure("tasks", args.tasks.into())
        .figure("calls", audit.summary.lines)
        .figure("requests_lost", load(&faults.requests_lost))
        .figure("replies_lost", load(&faults.replies_lost))
        .figure("throttled", load(&faults.throttled))
        .figure("new", audit.summary.new)
        .figure("again", audit.summary.again)
        .figure("empty", audit.summary.empty)
        .figure("given", audit.summary.given)
        .figure("free_left", audit.free_left)
        .figure("seed", *seed)
        .word("audit", verdict)
        .with("mismatches", Field::Json(mismatches.iter().map(Mismatch::json).collect()))
}
