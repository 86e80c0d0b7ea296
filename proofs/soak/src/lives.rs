//! The work of the callers: each use of a part follows one object from its creation until after its end.

mod counts;
mod runs;
mod seats;
mod tokens;
mod values;
mod vouchers;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use storagebox::{Result, Store};
use tokio::time::{Instant, sleep};

use crate::caller::{Caller, Wrong};
use counts::Counts;
pub(crate) use runs::Known;
use runs::Runs;
use seats::Taking;
pub(crate) use seats::{SEATS, Seats};
use tokens::Using;
use values::Values;
use vouchers::Vouchers;

/// The pause of a caller between two uses of the store, which limits the load.
const IDLE: Duration = Duration::from_millis(10);

#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) seats: Seats,
    pub(crate) runs: Known,
}

struct Lives {
    seats: Taking,
    runs: Runs,
    counts: Counts,
    tokens: Using,
    records: Vouchers,
    values: Values,
}

/// Uses parts of the store at random until `end` or until a promise is broken.
pub(crate) async fn until(end: Instant, mut caller: Caller, store: Store, shared: Arc<Shared>) {
    let mut lives = match Lives::of(&store, &shared) {
        Ok(lives) => lives,
        Err(error) => return caller.tally.wrong(error.to_string()),
    };
    while caller.tally.goes_on(end) {
        if let Err(wrong) = lives.one(&mut caller).await {
            caller.tally.wrong(format!("{}: {wrong}", caller.name));
        }
        sleep(IDLE).await;
    }
}

impl Lives {
    fn of(store: &Store, shared: &Arc<Shared>) -> Result<Self> {
        Ok(Self {
            seats: Taking::of(store, shared)?,
            runs: Runs::of(store, shared)?,
            counts: Counts::of(store)?,
            tokens: Using::of(store)?,
            records: Vouchers::of(store)?,
            values: Values::of(store)?,
        })
    }

    /// Uses one part of the store, chosen at random, and checks its answers.
    async fn one(&mut self, caller: &mut Caller) -> Result<(), Wrong> {
        match fastrand::u8(..6) {
            0 => self.seats.one(caller).await,
            1 => self.runs.one(caller).await,
            2 => self.counts.one(caller).await,
            3 => self.tokens.one(caller).await,
            4 => self.records.one(caller).await,
            _ => self.values.one(caller).await,
        }
    }
}

/// The last 16 values that callers tried to store for one id.
#[derive(Debug, Default)]
struct Lately(VecDeque<Vec<u8>>);

impl Lately {
    const MOST: usize = 16;

    fn add(&mut self, value: &[u8]) {
        self.0.push_back(value.to_owned());
        if self.0.len() > Self::MOST {
            self.0.pop_front();
        }
    }

    fn has(&self, value: &[u8]) -> bool {
        self.0.iter().any(|asked| asked == value)
    }
}

/// Returns the description of an answer that is not allowed.
fn wrong(what: &str, answer: impl std::fmt::Debug) -> Wrong {
    format!("{what} was answered {answer:?}")
}
