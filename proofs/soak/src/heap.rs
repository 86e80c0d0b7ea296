//! The memory that this process has in use, including the stores' clients and the memory store.

use std::alloc::System;
use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::time::sleep;

use crate::size::Size;

/// Counts the allocated bytes of the program, without the memory that the allocator keeps for reuse.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The number of samples, of which `size` returns the smallest.
const SAMPLES: usize = 20;
const EVERY: Duration = Duration::from_millis(50);

pub(crate) async fn size() -> Size {
    let mut bytes = in_use();
    for _ in 1..SAMPLES {
        sleep(EVERY).await;
        // Larger samples may include memory of calls in progress.
        bytes = bytes.min(in_use());
    }
    Size { entries: None, bytes }
}

fn in_use() -> u64 {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated) as u64
}
