//! Free ports.

use std::net::TcpListener;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::failure::Failure;

/// The first port. Linux uses higher ports for outgoing connections, so no connection takes the port of a server that
/// is down.
const FIRST: u32 = 10_240;
const PORTS: u32 = 32_768 - FIRST;

const ATTEMPTS: u32 = 5;

static LOOKED: AtomicU32 = AtomicU32::new(0);

/// Returns a port of 127.0.0.1 on which nothing listens, a different one at each call.
///
/// Another process may take the port before a server does, so a failed start is repeated on another port.
pub fn free() -> Result<u16, Failure> {
    (0..PORTS).find_map(|_| next().filter(|port| is_free(*port))).ok_or(Failure::NoFreePort)
}

/// Starts a server on a free port. Tries another port if another process has taken the port meanwhile.
pub(crate) fn with_free<T>(start: impl Fn(u16) -> Result<T, Failure>) -> Result<T, Failure> {
    let mut outcome = start(free()?);
    for _ in 1..ATTEMPTS {
        if !matches!(&outcome, Err(failure) if failure.is_for_a_taken_port()) {
            break;
        }
        outcome = start(free()?);
    }
    outcome
}

/// Returns the next port to check. The number of the process determines the first of these ports.
fn next() -> Option<u16> {
    let looked = LOOKED.fetch_add(1, Ordering::Relaxed);
    let offset = process::id().wrapping_mul(2_654_435_761).wrapping_add(looked) % PORTS;
    u16::try_from(FIRST + offset).ok()
}

fn is_free(port: u16) -> bool {
    TcpListener::bind(("127.0.0.1", port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_in_use_is_not_free() {
        let port = free().unwrap();
        let _listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        assert!(!is_free(port));
    }

    #[test]
    fn free_ports_are_distinct_and_within_the_range() {
        let mut ports: Vec<_> = (0..100).map(|_| free().unwrap()).collect();
        assert!(ports.iter().all(|port| (10_240..32_768).contains(port)));
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 100);
    }
}
