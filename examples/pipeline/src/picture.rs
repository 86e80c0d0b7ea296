//! What is in flight, to be looked at: one block that is drawn again on a terminal, and plain lines elsewhere.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::stage::Stage;
use crate::tally::{Counts, Said};
use crate::watch::Seen;

/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Clears the terminal from here on.
const CLEAR: &str = "\x1b[J";

pub(crate) struct Picture {
    is_terminal: bool,
    start: Instant,
    /// How many lines of the block are there to be drawn over.
    lines: usize,
    last_line: String,
    next_line: Duration,
}

impl Picture {
    pub(crate) fn new() -> Self {
        Self {
            is_terminal: io::stdout().is_terminal(),
            start: Instant::now(),
            lines: 0,
            last_line: String::new(),
            next_line: LINE_EVERY,
        }
    }

    /// Shows what was seen. Nobody may be looking.
    pub(crate) fn show(&mut self, seen: &Seen, counts: &Counts) {
        let mut out = io::stdout().lock();
        if self.is_terminal {
            let block = Block { seen, counts }.to_string();
            let up = if self.lines == 0 { String::new() } else { format!("\x1b[{}F", self.lines) };
            self.lines = block.lines().count();
            let _ = write!(out, "{up}{CLEAR}{block}").and_then(|()| out.flush());
        } else if self.start.elapsed() >= self.next_line {
            self.next_line = self.start.elapsed() + LINE_EVERY;
            let line = Line { seen, counts }.to_string();
            if line != self.last_line {
                let _ = writeln!(out, "{line}");
            }
            self.last_line = line;
        }
    }
}

/// The block for a terminal.
struct Block<'a> {
    seen: &'a Seen,
    counts: &'a Counts,
}

impl fmt::Display for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seen, counts } = self;
        writeln!(
            f,
            "{:<10} {:>9} {:>9} {:>7} {:>9} {:>10}",
            "stage", "in flight", "half done", "parked", "done", "duplicates"
        )?;
        for stage in Stage::ALL {
            let done = [seen.accepted, seen.paid, seen.shipped][stage as usize];
            let (parked, duplicates) = (counts.of(stage, Said::Parked), counts.of(stage, Said::Duplicate));
            let (in_flight, half_done) = (seen.in_flight(stage), seen.half_done[stage as usize]);
            writeln!(f, "{stage:<10} {in_flight:>9} {half_done:>9} {parked:>7} {done:>9} {duplicates:>10}")?;
        }
        writeln!(f, "money      {:>9} in accounts + {} at the bank", seen.coins, seen.bank.coins)?;
        writeln!(f, "pieces     {:>9} on shelves + {} parcels", seen.pieces, seen.carrier.done)?;
        let refused = seen.bank.refused + seen.carrier.refused;
        writeln!(f, "outside    {:>9} requests, {refused} refused", seen.bank.requests + seen.carrier.requests)?;
        let Counts { workers_killed, brokers_killed, .. } = counts;
        writeln!(f, "killed     {workers_killed:>9} workers, the broker {brokers_killed} times")
    }
}

/// The same in one line.
struct Line<'a> {
    seen: &'a Seen,
    counts: &'a Counts,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seen, counts } = self;
        let [orders, payments, shipping] = Stage::ALL.map(|stage| seen.in_flight(stage));
        write!(
            f,
            "{} placed; in flight: orders {orders}, payments {payments}, shipping {shipping}; parked {}; {} paid, {} \
             parcels; killed: {} workers, {} brokers",
            seen.placed,
            counts.all(Said::Parked),
            seen.bank.done,
            seen.carrier.done,
            counts.workers_killed,
            counts.brokers_killed,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_in_flight_is_shown_at_its_stage() {
        let seen = Seen { placed: 9, accepted: 7, paid: 4, shipped: 3, half_done: [0, 1, 0], ..Seen::default() };
        let block = Block { seen: &seen, counts: &Counts::default() }.to_string();
        let rows: Vec<Vec<_>> = block.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[1], ["orders", "2", "0", "0", "7", "0"]);
        assert_eq!(rows[2], ["payments", "3", "1", "0", "4", "0"]);
        assert_eq!(rows[3], ["shipping", "1", "0", "0", "3", "0"]);
        let line = Line { seen: &seen, counts: &Counts::default() }.to_string();
        assert!(line.starts_with("9 placed; in flight: orders 2, payments 3, shipping 1;"), "{line}");
    }
}
