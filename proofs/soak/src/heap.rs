//! What this process has in memory, the stores' clients in it as well as the memory store.

use std::alloc::System;
use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::time::sleep;

use crate::size::Size;

/// Counts what is in use. What the allocator keeps for later is no leak, and differs from run to run.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A look at a table may be in memory for a moment: the least of so many samples counts.
const SAMPLES: usize = 20;
const EVERY: Duration = Duration::from_millis(50);

pub(crate) async fn size() -> Size {
    let mut bytes = in_use();
    for _ in 1..SAMPLES {
        sleep(EVERY).await;
        bytes = bytes.min(in_use());
    }
    Size { entries: None, bytes }
}

fn in_use() -> u64 {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated) as u64
}
