//! Two callers of one item: each request of the first is held while the calls of the second run.
//!
//! The first caller's requests contain the time at which they were created. The clock advances while they are held.

use std::pin::pin;
use std::time::Duration;

use storagebox_core::{
    Backend, ClaimId, ClaimState, Confirmed, Counts, End, Extended, Hold, HoldState, Item, ItemBank, ItemState,
    Released, Result, Taken,
};

use crate::scene::{Gate, with_place};
use crate::support::{Place, failed};

const MINUTE: Duration = Duration::from_secs(60);
const ADA: &str = "ada";
const BOB: &str = "bob";
/// A number that is greater than the number of requests of any call in `HELD`.
const MOST_REQUESTS: usize = 8;

#[derive(Clone, Copy, Debug)]
enum Step {
    Take(&'static str),
    Confirm(&'static str),
    Release(&'static str),
    Extend(&'static str),
    Withdraw,
    /// Waits until the hold of the claim `ADA` has lapsed.
    Wait,
}

use Step::{Confirm, Extend, Release, Take, Wait, Withdraw};

/// The steps before the call whose requests are held.
const BEFORE: [&[Step]; 3] = [&[], &[Take(ADA)], &[Take(ADA), Wait]];

/// The call whose requests are held.
const HELD: [Step; 6] = [Take(ADA), Take(BOB), Confirm(ADA), Release(ADA), Extend(ADA), Withdraw];

/// The steps that run while a request is held.
const MEANWHILE: [&[Step]; 10] = [
    &[Take(ADA)],
    &[Take(BOB)],
    &[Confirm(ADA)],
    &[Extend(ADA), Wait],
    &[Withdraw],
    &[Release(ADA), Take(BOB)],
    &[Wait, Take(BOB)],
    &[Wait, Release(ADA)],
    &[Wait, Confirm(ADA), Take(BOB), Confirm(BOB)],
    &[Wait, Extend(ADA), Take(BOB), Release(BOB)],
];

/// An outcome that all later calls must agree with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Nothing,
    Holds(&'static str),
    Extended,
    Confirmed(&'static str),
    Ended(&'static str, End),
}

impl Step {
    async fn make(self, bank: &dyn ItemBank, place: &Place) -> Result<Told> {
        let id = |claim| ClaimId::new(claim);
        Ok(match self {
            Take(claim) => match bank.take(&id(claim)?, hold_of(claim)).await? {
                Taken::New(_) if claim == BOB => Told::Holds(claim),
                Taken::Ended(end) => Told::Ended(claim, end),
                Taken::Again(held) if held.hold == HoldState::Confirmed => Told::Confirmed(claim),
                _ => Told::Nothing,
            },
            Confirm(claim) => match bank.confirm(&id(claim)?).await? {
                Confirmed::Confirmed(_) => Told::Confirmed(claim),
                Confirmed::Ended(end) => Told::Ended(claim, end),
                Confirmed::Unknown => Told::Nothing,
            },
            Release(claim) => match bank.release(&id(claim)?).await? {
                Released::Released => Told::Ended(claim, End::Released),
                Released::Expired => Told::Ended(claim, End::Expired),
                Released::Confirmed => Told::Confirmed(claim),
            },
            Extend(claim) => match bank.extend(&id(claim)?, Hold::For(2 * MINUTE)).await? {
                Extended::Confirmed(_) => Told::Confirmed(claim),
                Extended::Ended(end) => Told::Ended(claim, end),
                Extended::Extended(_) => Told::Extended,
                Extended::Unknown => Told::Nothing,
            },
            Withdraw => bank.withdraw(&[item()?]).await.map(|_| Told::Nothing)?,
            Wait => {
                place.clock.advance(MINUTE);
                Told::Nothing
            }
        })
    }
}

fn hold_of(claim: &str) -> Hold {
    if claim == ADA { Hold::For(MINUTE) } else { Hold::Forever }
}

fn item() -> Result<Item> {
    Item::new("code")
}

/// One case: the steps of the two callers, and the number of the request that is held.
struct Cell<'a> {
    place: &'a Place,
    before: &'a [Step],
    held: Step,
    request: usize,
    meanwhile: &'a [Step],
}

impl Cell<'_> {
    fn name(&self) -> String {
        format!("{:?}, {:?} held at {}, {:?}", self.before, self.held, self.request, self.meanwhile)
    }

    /// Makes the steps of the case. Returns `false` if the held call has no request with the case's number.
    async fn holds(&self, other: &dyn ItemBank, bank: &str) -> Result<bool> {
        let gate = Gate::default();
        let (store, faults) = gate.store(&self.place.table, self.place.builder()).await?;
        other.add(&[item()?]).await?;
        for step in self.before {
            step.make(other, self.place).await?;
        }
        let own = store.item_bank(&bank.parse()?)?;
        own.counts().await?;
        faults.script([Gate::PASS].repeat(self.request).into_iter().chain([Gate::HOLD]));
        let mut call = pin!(self.held.make(&*own, self.place));
        let mut told = tokio::select! {
            answer = call.as_mut() => return answer.map(|_| false),
            told = self.run_through(&gate, other) => told?,
        };
        gate.open();
        told.push(call.await?);
        self.is_right(&told, other).await.map(|()| true)
    }

    async fn run_through(&self, gate: &Gate, bank: &dyn ItemBank) -> Result<Vec<Told>> {
        gate.reached().await;
        let mut told = vec![];
        for step in self.meanwhile {
            told.push(step.make(bank, self.place).await?);
        }
        Ok(told)
    }

    async fn is_right(&self, told: &[Told], bank: &dyn ItemBank) -> Result<()> {
        let (ada, bob) = (bank.get(&ClaimId::new(ADA)?).await?, bank.get(&ClaimId::new(BOB)?).await?);
        let (counts, holder) = (bank.counts().await?, bank.holder(&item()?).await?);
        let shown = format!("{}: {told:?}; ada {ada:?}, bob {bob:?}, {counts:?}, {holder:?}", self.name());
        let holders = [&ada, &bob].into_iter().filter(|state| matches!(state, ClaimState::Held(_))).count();
        assert!(holders <= 1, "an item is held by two: {shown}");
        for told in told {
            let is_so = match told {
                Told::Nothing => true,
                // A hold that had lapsed before the call is never extended or confirmed.
                Told::Extended | Told::Confirmed(ADA) if self.had_run_out() => false,
                Told::Extended => true,
                Told::Holds(claim) => is_held(&bob) || self.ends(claim),
                Told::Confirmed(claim) => is_confirmed(if *claim == ADA { &ada } else { &bob }),
                Told::Ended(claim, end) => *(if *claim == ADA { &ada } else { &bob }) == ClaimState::Ended(*end),
            };
            assert!(is_so, "{told:?} was answered: {shown}");
        }
        let kept = [counts.free, counts.held, counts.spent, counts.withdrawn];
        assert_eq!(kept.iter().sum::<u64>(), 1, "{shown}");
        assert_eq!(counts.held + counts.spent, holders as u64, "{shown}");
        assert_eq!(counts == free(), holder == ItemState::Free, "{shown}");
        if counts == free() {
            let taken = bank.take(&ClaimId::new("cara")?, Hold::Forever).await?;
            assert!(matches!(taken, Taken::New(_)), "{taken:?}, although it is free: {shown}");
        }
        Ok(())
    }

    fn had_run_out(&self) -> bool {
        self.before.iter().any(|step| matches!(step, Wait))
    }

    fn ends(&self, claim: &str) -> bool {
        self.meanwhile.iter().any(|step| matches!(step, Release(one) if *one == claim))
    }
}

fn free() -> Counts {
    Counts { free: 1, ..Counts::default() }
}

fn is_held(state: &ClaimState) -> bool {
    matches!(state, ClaimState::Held(_))
}

fn is_confirmed(state: &ClaimState) -> bool {
    matches!(state, ClaimState::Held(held) if held.hold == HoldState::Confirmed)
}

#[test]
#[ignore = "it takes a minute: cargo xtask prove dynamo"]
fn an_item_has_one_holder_whatever_runs_while_a_request_is_held() -> Result<()> {
    with_place(async |place| {
        let other = place.store().await?;
        let (mut cells, mut wrong) = (0, vec![]);
        for before in BEFORE {
            for held in HELD {
                for meanwhile in MEANWHILE {
                    for request in 0..MOST_REQUESTS {
                        let name = format!("bank-{cells}");
                        cells += 1;
                        let cell = Cell { place, before, held, request, meanwhile };
                        match cell.holds(&*other.item_bank(&name.parse()?)?, &name).await {
                            Ok(true) => {}
                            Ok(false) => break,
                            Err(error) => wrong.push(format!("{}: {error}", cell.name())),
                        }
                    }
                }
            }
        }
        println!("{cells} times two callers met");
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(failed(format_args!("{} times: {wrong:#?}", wrong.len()))),
        }
    })
}
