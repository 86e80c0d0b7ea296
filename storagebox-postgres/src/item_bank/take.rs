//! Makes takes alone, or combines those that arrive while another take is in progress.

use std::collections::HashMap;
use std::sync::Arc;

use storagebox_core::backend::micros;
use storagebox_core::{
    Attempt, ClaimId, Combine, Combined, Error, ErrorKind, Held, Hold, HoldState, Item, Result, Taken,
};

use tokio::time::Instant;

use super::answers::{self, ClaimView, Observed};
use super::take_cursors::TakeCursors;
use crate::client::{AfterLostReply, FunctionCall, OpenNamespace};
use crate::combining::{self, Combining};

/// The maximum number of takes in one statement.
const MOST: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct Take {
    pub(super) attempt: Attempt,
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

#[derive(Debug)]
pub(super) struct Takes {
    taker: Arc<Taker>,
    combiner: Option<Combining<Take>>,
}

#[derive(Debug)]
struct Taker {
    bank: Arc<OpenNamespace>,
    cursors: TakeCursors,
}

impl Takes {
    pub(super) fn new(bank: &Arc<OpenNamespace>) -> Self {
        let taker = Arc::new(Taker { bank: Arc::clone(bank), cursors: TakeCursors::default() });
        let combiner = combining::combiner(bank.client(), MOST, &taker, Taker::together);
        Self { taker, combiner }
    }

    pub(super) async fn take(&self, take: Take) -> Result<Taken> {
        let taker = &self.taker;
        let deadline = taker.bank.client().deadline();
        let alone =
            |lost| taker.alone(take.clone(), AfterLostReply::after_batch(take.attempt.is_repeated() || lost), deadline);
        combining::call(self.combiner.as_ref(), taker.bank.client(), &take, alone).await
    }
}

impl Taker {
    async fn alone(&self, take: Take, after_lost: AfterLostReply, deadline: Instant) -> Result<Taken> {
        let once = |is_any_lost| self.once(take.attempt.after_lost(is_any_lost), &take);
        self.bank.client().repeated(deadline, after_lost, once).await
    }

    async fn once(&self, attempt: Attempt, take: &Take) -> Result<Taken> {
        let mut cursor = self.cursors.begin();
        let (client, start) = (self.bank.client(), cursor.start());
        let function = if client.is_joined() { "bank_take_within" } else { "bank_take" };
        let call = FunctionCall::value(function)
            .of(self.bank.opened().await?)
            .with(take.claim.as_str())
            .with(attempt.call())
            .with(attempt.is_repeated())
            .with(micros_of(take.hold))
            .with(client.memory())
            .with(start.at)
            .with(start.till)
            .with((!client.is_joined()).then_some(start.since));
        let view = ClaimView::of(&client.row(&call).await?, "bank_take")?;
        match view.word()? {
            "new" => {
                cursor.go_on(view.number(2)?, view.number(3)?, 1);
                Ok(new(view.item(1)?, take.hold))
            }
            // The hint about where more items may be free is out of date.
            "empty" => {
                cursor.leave();
                Ok(Taken::Empty)
            }
            "open" => attempt.refused(Taken::Empty),
            "busy" => {
                cursor.leave();
                Err(Error::new(ErrorKind::Contention, "other transactions have locked the last items").on("postgres"))
            }
            _ => view.taken(),
        }
    }

    async fn together(self: Arc<Self>, takes: Vec<Take>) -> Vec<Combined<Result<Taken>>> {
        match self.bank.client().in_time(self.many(&takes)).await {
            Ok(mut observed) => {
                takes.iter().map(|take| answer(observed.remove(take.claim.as_str()), take.hold)).collect()
            }
            Err(error) => combining::failed(&error, takes.len()),
        }
    }

    async fn many(&self, takes: &[Take]) -> Result<HashMap<String, Observed>> {
        let mut cursor = self.cursors.begin();
        let start = cursor.start();
        let mut sorted: Vec<_> = takes.iter().collect();
        sorted.sort_unstable_by(|one, other| one.claim.cmp(&other.claim));
        let call = FunctionCall::rows("bank_take_many")
            .about(self.bank.opened().await?)
            .with(sorted.iter().map(|take| take.claim.as_str()).collect::<Vec<_>>())
            .with(sorted.iter().map(|take| micros_of(take.hold)).collect::<Vec<_>>())
            .with(self.bank.client().memory())
            .with(start.at)
            .with(start.since);
        let (last, observed) = answers::taken_many(&self.bank.client().row(&call).await?)?;
        match last {
            Some(place) => cursor.go_on(place, place, takes.len() as u32),
            None => cursor.leave(),
        }
        Ok(observed)
    }
}

fn answer(observed: Option<Observed>, hold: Hold) -> Combined<Result<Taken>> {
    match observed {
        Some(Observed::New(item)) => Combined::Answer(Ok(new(item, hold))),
        Some(Observed::AlreadyKnown(view)) => Combined::Answer(view.taken()),
        None => Combined::RunAlone,
    }
}

fn new(item: Item, hold: Hold) -> Taken {
    let hold = match hold {
        Hold::Forever => HoldState::Forever,
        Hold::For(duration) => HoldState::Remaining(duration),
    };
    Taken::New(Held { item, hold })
}

/// Returns a hold in microseconds; `None` is for ever.
pub(super) fn micros_of(hold: Hold) -> Option<i64> {
    match hold {
        Hold::Forever => None,
        Hold::For(duration) => Some(micros(duration)),
    }
}
