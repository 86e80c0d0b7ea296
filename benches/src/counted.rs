//! The program that prints the table of counts per call.

use std::alloc::System;
use std::process::ExitCode;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    storagebox_benches::counts::run(std::env::args().skip(1), || {
        let stats = ALLOCATOR.stats();
        (stats.allocations + stats.reallocations) as u64
    })
}
