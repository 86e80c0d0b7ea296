//! Claims of a bank.

use std::sync::Arc;

use storagebox_core::{BankAdmin, ClaimId, Hold, Item};

use super::{Table, brief};
use crate::failure::{Failure, Verdict};
use crate::world::World;

pub(super) const TABLE: Table = Table {
    title: "A claim of a bank",
    about: "The bank has free items. `take` and `extend` ask for a hold without an end.",
    calls: &["take", "extend", "confirm", "release", "retire", "get"],
    rows: &[
        ("the claim is unknown", &["New", "Unknown", "Unknown", "Released", "Unknown", "Unknown"]),
        ("it holds an item for ever", &["Again", "Extended", "Confirmed", "Released", "Holding", "Held"]),
        ("it holds an item for a time", &["Again", "Extended", "Confirmed", "Released", "Holding", "Held"]),
        (
            "its hold has lapsed",
            &["Ended(Expired)", "Ended(Expired)", "Ended(Expired)", "Expired", "Retired", "Ended(Expired)"],
        ),
        (
            "its hold has lapsed, and another claim took the item",
            &["Ended(Expired)", "Ended(Expired)", "Ended(Expired)", "Expired", "Retired", "Ended(Expired)"],
        ),
        ("it is confirmed", &["Again", "Confirmed", "Confirmed", "Confirmed", "Retired", "Held"]),
        (
            "it is released",
            &["Ended(Released)", "Ended(Released)", "Ended(Released)", "Released", "Retired", "Ended(Released)"],
        ),
        (
            "it was released before it was known",
            &["Ended(Released)", "Ended(Released)", "Ended(Released)", "Released", "Retired", "Ended(Released)"],
        ),
        ("it was confirmed and then retired", &["New", "Unknown", "Unknown", "Released", "Unknown", "Unknown"]),
    ],
};

/// The states of the table, in its order.
const STATES: [State; 9] = [
    State::Unknown,
    State::Held,
    State::HeldForATime,
    State::Lapsed,
    State::Retaken,
    State::Confirmed,
    State::Released,
    State::Fenced,
    State::Retired,
];

#[derive(Clone, Copy)]
enum State {
    Unknown,
    Held,
    HeldForATime,
    Lapsed,
    Retaken,
    Confirmed,
    Released,
    Fenced,
    Retired,
}

pub(crate) async fn a_claim_is_answered_by_its_table(world: &World) -> Verdict {
    for (state, call) in TABLE.asked() {
        let bank = world.filled_bank(&format!("bank-{state}-{call}"), 1).await?;
        let ada = ClaimId::new("ada")?;
        reach(STATES[state], world, &bank, &ada).await?;
        bank.add(&[Item::new("spare")?]).await?;
        TABLE.ensure((state, call), &answer(call, &bank, &ada).await?)?;
    }
    Ok(())
}

/// Brings a claim into a state.
async fn reach(state: State, world: &World, bank: &Arc<dyn BankAdmin>, claim: &ClaimId) -> Verdict {
    match state {
        State::Unknown => {}
        State::Held | State::Confirmed | State::Released | State::Retired => {
            let _ = bank.take(claim, Hold::Forever).await?;
        }
        State::HeldForATime => drop(bank.take(claim, Hold::For(world.short() * 10)).await?),
        State::Lapsed | State::Retaken => {
            let _ = bank.take(claim, Hold::For(world.short())).await?;
            world.pass(world.short()).await;
        }
        State::Fenced => drop(bank.release(claim).await?),
    }
    match state {
        State::Confirmed | State::Retired => drop(bank.confirm(claim).await?),
        State::Released => drop(bank.release(claim).await?),
        State::Retaken => drop(bank.take(&ClaimId::new("bob")?, Hold::Forever).await?),
        _ => {}
    }
    if let State::Retired = state {
        let _ = bank.retire(claim).await?;
    }
    Ok(())
}

async fn answer(call: usize, bank: &Arc<dyn BankAdmin>, claim: &ClaimId) -> Result<String, Failure> {
    Ok(match TABLE.calls[call] {
        "take" => brief(&bank.take(claim, Hold::Forever).await?),
        "extend" => brief(&bank.extend(claim, Hold::Forever).await?),
        "confirm" => brief(&bank.confirm(claim).await?),
        "release" => brief(&bank.release(claim).await?),
        "retire" => brief(&bank.retire(claim).await?),
        _ => brief(&bank.get(claim).await?),
    })
}
