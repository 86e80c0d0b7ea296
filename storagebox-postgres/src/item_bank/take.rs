//! Takes: alone, or with others that came while one was under way.

use std::collections::HashMap;
use std::sync::Arc;

use storagebox_core::backend::micros;
use storagebox_core::{ClaimId, Combine, Combined, Error, ErrorKind, Held, Hold, HoldState, Item, Result, Taken};

use tokio::time::Instant;

use super::answers::{self, Met, Shown};
use super::walk::Walk;
use crate::client::{Before, Call, OpenNamespace};
use crate::combining::{self, Combining};

/// Takes in one statement.
const MOST: usize = 64;

/// One take.
#[derive(Clone, Debug)]
pub(super) struct Take {
    pub(super) claim: ClaimId,
    pub(super) hold: Hold,
}

impl Combine for Take {
    type Key = ClaimId;
    type Answer = Taken;

    const BACKEND: &'static str = "postgres";
    const OPERATION: &'static str = "take";

    fn key(&self) -> ClaimId {
        self.claim.clone()
    }
}

/// All takes of a bank.
#[derive(Debug)]
pub(super) struct Takes {
    taker: Arc<Taker>,
    combiner: Option<Combining<Take>>,
}

#[derive(Debug)]
struct Taker {
    bank: Arc<OpenNamespace>,
    walk: Walk,
}

impl Takes {
    pub(super) fn new(bank: &Arc<OpenNamespace>) -> Self {
        let taker = Arc::new(Taker { bank: Arc::clone(bank), walk: Walk::default() });
        let combiner = combining::combiner(bank.client(), MOST, &taker, Taker::together);
        Self { taker, combiner }
    }

    pub(super) async fn take(&self, take: Take) -> Result<Taken> {
        let taker = &self.taker;
        let deadline = taker.bank.client().deadline();
        let alone = |lost| taker.alone(take.clone(), Before::lost(lost), deadline);
        combining::call(self.combiner.as_ref(), taker.bank.client(), &take, alone).await
    }
}

impl Taker {
    async fn alone(&self, take: Take, before: Before, deadline: Instant) -> Result<Taken> {
        self.bank.client().repeated(deadline, before, || self.once(&take)).await
    }

    async fn once(&self, take: &Take) -> Result<Taken> {
        let mut lane = self.walk.begin();
        let (client, start) = (self.bank.client(), lane.start());
        let call = Call::value("bank_take")
            .of(self.bank.opened().await?)
            .with(take.claim.as_str())
            .with(micros_of(take.hold))
            .with(client.memory())
            .with(start.at)
            .with(start.till)
            .with(start.since);
        let shown = Shown::of(&client.row(&call).await?, "bank_take")?;
        match shown.word()? {
            "new" => {
                lane.go_on(shown.number(2)?, shown.number(3)?, 1);
                Ok(new(shown.item(1)?, take.hold))
            }
            // What was told of where there may be more is no longer so.
            "empty" => {
                lane.leave();
                Ok(Taken::Empty)
            }
            "busy" => {
                lane.leave();
                Err(Error::new(ErrorKind::Contention, "others hold the last items").on("postgres"))
            }
            _ => shown.taken(),
        }
    }

    async fn together(self: Arc<Self>, takes: Vec<Take>) -> Vec<Combined<Result<Taken>>> {
        match self.bank.client().in_time(self.many(&takes)).await {
            Ok(mut met) => takes.iter().map(|take| answer(met.remove(take.claim.as_str()), take.hold)).collect(),
            Err(error) => combining::failed(&error, takes.len()),
        }
    }

    /// What became of the claims, by claim.
    async fn many(&self, takes: &[Take]) -> Result<HashMap<String, Met>> {
        let mut lane = self.walk.begin();
        let start = lane.start();
        let mut sorted: Vec<_> = takes.iter().collect();
        sorted.sort_unstable_by(|one, other| one.claim.cmp(&other.claim));
        let call = Call::rows("bank_take_many")
            .about(self.bank.opened().await?)
            .with(sorted.iter().map(|take| take.claim.as_str()).collect::<Vec<_>>())
            .with(sorted.iter().map(|take| micros_of(take.hold)).collect::<Vec<_>>())
            .with(self.bank.client().memory())
            .with(start.at)
            .with(start.since);
        let (last, met) = answers::taken_many(&self.bank.client().row(&call).await?)?;
        match last {
            Some(place) => lane.go_on(place, place, takes.len() as u32),
            None => lane.leave(),
        }
        Ok(met)
    }
}

fn answer(met: Option<Met>, hold: Hold) -> Combined<Result<Taken>> {
    match met {
        Some(Met::New(item)) => Combined::Answer(Ok(new(item, hold))),
        Some(Met::Known(shown)) => Combined::Answer(shown.taken()),
        None => Combined::Alone,
    }
}

fn new(item: Item, hold: Hold) -> Taken {
    let hold = match hold {
        Hold::Forever => HoldState::Forever,
        Hold::For(duration) => HoldState::Remaining(duration),
    };
    Taken::New(Held { item, hold })
}

/// A hold as the functions take it: null is for ever.
pub(super) fn micros_of(hold: Hold) -> Option<i64> {
    match hold {
        Hold::Forever => None,
        Hold::For(duration) => Some(micros(duration)),
    }
}
