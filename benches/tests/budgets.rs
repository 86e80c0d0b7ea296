//! Budgets of a call, in counts that do not depend on the load of the machine. `cargo bench -p storagebox-benches
//! --bench counts` prints all counts, including instructions.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use storagebox_benches::counts::{Counted, of_backends};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn allocations() -> u64 {
    let stats = ALLOCATOR.stats();
    (stats.allocations + stats.reallocations) as u64
}

/// A limit for one row and backend: the number of allocations per call by which the library may exceed the compared
/// program.
struct Budget {
    row: &'static str,
    backend: &'static str,
    allocations: f64,
}

// P18 calls through a handle, P1 calls the part, and P21 calls the part within a transaction of the caller.
const BUDGETS: &[Budget] = &[
    Budget { row: "P18", backend: "memory", allocations: 9.5 },
    Budget { row: "P18", backend: "sqlite", allocations: 13.0 },
    Budget { row: "P1", backend: "postgres", allocations: 6.0 },
    Budget { row: "P18", backend: "postgres", allocations: 18.0 },
    Budget { row: "P21", backend: "postgres", allocations: 38.0 },
    Budget { row: "P1", backend: "redis", allocations: 4.5 },
    Budget { row: "P18", backend: "redis", allocations: 15.5 },
];

impl Budget {
    fn is_of(&self, counted: &Counted) -> bool {
        let words: Vec<_> = counted.name.split([' ', ',']).collect();
        words[0] == self.row && words.contains(&self.backend)
    }
}

/// The number of system calls per call by which the library may exceed the compared program.
// A thread without work sometimes waits and is woken, so the sides differ by about one wake-up on a busy machine. A
// switch to another thread and back would add two wake-ups and two system calls.
const SYSTEM_CALLS: f64 = 2.9;
/// The number of wake-ups per call by which the library may exceed the compared program.
const WAKE_UPS: f64 = 1.9;
/// The maximum number of timers per call. A call starts one timer, for its deadline.
const TIMERS: f64 = 1.1;

fn excess(budget: &Budget, counted: &Counted) -> Vec<String> {
    let Counted { name, ours, floor } = counted;
    let extra = |ours: Option<f64>, floor: Option<f64>| Some(ours? - floor?);
    let looked_at = [
        ("allocations", Some(ours.allocations - floor.allocations), budget.allocations),
        ("system calls", extra(ours.system_calls, floor.system_calls), SYSTEM_CALLS),
        ("wake-ups", extra(ours.wake_ups, floor.wake_ups), WAKE_UPS),
        ("timers", Some(ours.timers), TIMERS),
    ];
    println!("{name}: {looked_at:.2?}");
    let over = looked_at.into_iter().filter(|(_, extra, most)| extra.is_some_and(|extra| extra > *most));
    over.map(|(what, extra, most)| format!("{name}: {:.2} {what}, at most {most}", extra.unwrap_or_default())).collect()
}

/// Checks system calls only if strace is installed and may trace this process.
#[test]
fn a_call_stays_within_its_budget() -> Result<(), String> {
    let mut over = vec![];
    let counted = of_backends(&["memory", "sqlite", "postgres", "redis"], allocations)?;
    assert_eq!(counted.len(), BUDGETS.len());
    for counted in &counted {
        let budget = BUDGETS.iter().find(|budget| budget.is_of(counted)).ok_or_else(|| counted.name.clone())?;
        over.extend(excess(budget, counted));
    }
    assert!(over.is_empty(), "{over:#?}");
    Ok(())
}
