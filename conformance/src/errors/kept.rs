//! ER-5 on a real connection: a request is kept on its way to the server, and delivered after its call was refused.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Attempt, Bounds, Change, ClaimId, ClaimState, Confirmed, Counted, Counter, End, Hold, HoldState, ItemBank, Key,
    OpId, Result, Retired, Strategy, Taken,
};

use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::repeatable::{Clients, MOST_REQUESTS};
use crate::world::{World, items};

/// Returns whether the proxy held back a request of the call before the call was answered.
async fn was_kept<T>(clients: &Clients<'_>, text: &str, passing: usize, call: impl Future<Output = Result<T>>) -> bool {
    clients.keep(text, passing);
    tokio::select! {
        biased;
        () = clients.cut() => {}
        _ = call => {}
    }
    clients.was_cut()
}

/// A request of a take arrives after a repetition was answered `Empty`. The late request takes nothing, although an
/// item is free again. If other calls wait for the request, it arrives before they are answered, and may take the item.
pub(super) async fn a_kept_take_takes_nothing_after_its_refusal(world: &World) -> Verdict {
    for passing in 0..MOST_REQUESTS {
        let clients = Clients::of(world).await?;
        let (far, near) = banks(&clients, passing)?;
        far.add(&items(1)?).await?;
        let (claim, other) = (ClaimId::new(format!("claim-{passing}"))?, ClaimId::new("other")?);
        let attempt = Attempt::first();
        let call = far.attempt_take(attempt, &claim, Hold::Forever);
        if !was_kept(&clients, claim.as_str(), passing, call).await {
            ensure!(passing > 0, "no request of a take contains the claim as `on_the_wire` encodes it");
            return Ok(());
        }
        let first = clients.beside(|| near.take(&other, Hold::Forever)).await?;
        let again = clients.beside(|| near.attempt_take(attempt.again(), &claim, Hold::Forever)).await?;
        if clients.has_let_go() && first == Taken::Empty {
            ensure_matches!(again, Taken::Again(_), "the take that was delivered before another, repeated");
            continue;
        }
        ensure_matches!(first, Taken::New(_), "a take by another claim");
        ensure_eq!(again, Taken::Empty, "the repeated take");
        let _ = clients.beside(|| near.release(&other)).await?;
        clients.let_go().await;
        ensure_took_nothing(&*near, &claim).await.map_err(|failure| failure.during(format!("at request {passing}")))?;
    }
    Ok(())
}

async fn ensure_took_nothing(near: &dyn ItemBank, claim: &ClaimId) -> Verdict {
    ensure_eq!(near.get(claim).await?, ClaimState::Unknown, "the claim");
    ensure_eq!(near.counts().await?.free, 1, "free items");
    ensure_matches!(near.take(claim, Hold::Forever).await?, Taken::New(_), "another call");
    Ok(())
}

pub(super) async fn a_kept_confirm_spends_nothing_after_its_refusal(world: &World) -> Verdict {
    for passing in 0..MOST_REQUESTS {
        let clients = Clients::of(world).await?;
        let (far, near) = banks(&clients, passing)?;
        far.add(&items(1)?).await?;
        let (claim, attempt) = (ClaimId::new(format!("claim-{passing}"))?, Attempt::first());
        if !was_kept(&clients, claim.as_str(), passing, far.attempt_confirm(attempt, &claim)).await {
            return Ok(());
        }
        let confirmed = clients.beside(|| near.attempt_confirm(attempt.again(), &claim)).await?;
        ensure_eq!(confirmed, Confirmed::Unknown, "the repeated confirm");
        let _ = clients.beside(|| near.take(&claim, Hold::For(Duration::from_secs(3_600)))).await?;
        clients.let_go().await;
        let held = ensure_matches!(near.get(&claim).await?, ClaimState::Held(held) => held, "the claim");
        ensure_matches!(held.hold, HoldState::Remaining(_), "the hold of the claim, at request {passing}");
    }
    Ok(())
}

pub(super) async fn a_kept_retire_forgets_nothing_after_its_refusal(world: &World) -> Verdict {
    for passing in 0..MOST_REQUESTS {
        let clients = Clients::of(world).await?;
        let (far, near) = banks(&clients, passing)?;
        far.add(&items(1)?).await?;
        let (claim, attempt) = (ClaimId::new(format!("claim-{passing}"))?, Attempt::first());
        let _ = near.take(&claim, Hold::Forever).await?;
        if !was_kept(&clients, claim.as_str(), passing, far.attempt_retire(attempt, &claim)).await {
            return Ok(());
        }
        let retired = clients.beside(|| near.attempt_retire(attempt.again(), &claim)).await?;
        ensure_eq!(retired, Retired::Holding, "the repeated retire");
        let _ = clients.beside(|| near.release(&claim)).await?;
        clients.let_go().await;
        let state = near.get(&claim).await?;
        ensure_eq!(state, ClaimState::Ended(End::Released), "the claim, at request {passing}");
    }
    Ok(())
}

/// A request of a sale arrives after a repetition was refused. The late request sells nothing, although a piece is in
/// stock again. If other calls wait for the request, it arrives before they are answered, and may sell the piece.
pub(super) async fn a_kept_sale_sells_nothing_after_its_refusal(world: &World) -> Verdict {
    let bounds = Bounds::at_least(0);
    let (hour, retention) = (Duration::from_secs(3_600), storagebox_core::Retention::DEFAULT);
    let strategies = [
        Strategy::default(),
        Strategy::Window { lifetime: hour, capacity: 100 },
        Strategy::Sharded { shards: 3, bounds, retention },
    ];
    for (number, strategy) in strategies.into_iter().enumerate() {
        for passing in 0..MOST_REQUESTS {
            if !sale_was_kept(world, &format!("stock-{number}-{passing}"), strategy, passing).await? {
                ensure!(passing > 0, "no request of a sale holds its key in the form of `on_the_wire`");
                break;
            }
        }
    }
    Ok(())
}

async fn sale_was_kept(
    world: &World,
    name: &str,
    strategy: Strategy,
    passing: usize,
) -> Result<bool, crate::failure::Failure> {
    let clients = Clients::of(world).await?;
    let far = clients.far.counter(&name.parse()?, strategy)?;
    let near = clients.fresh.counter(&name.parse()?, strategy)?;
    let (key, attempt) = (Key::new(format!("key-of-{name}"))?, Attempt::first());
    let change = |op: &str, delta| -> Result<Change> {
        let change = Change::new(OpId::new(op)?, delta);
        let bounded = far.promise().bounds_per_change;
        Ok(if bounded { change.within(Bounds::at_least(0)) } else { change })
    };
    let (sale, other, back) = (change("sale", -1)?, change("other", -1)?, change("back", 1)?);
    ensure_matches!(far.apply(&key, &change("delivery", 1)?).await?, Counted::Applied { .. }, "a delivery");
    if !was_kept(&clients, key.as_str(), passing, far.attempt_apply(attempt, &key, &sale)).await {
        return Ok(false);
    }
    let first = clients.beside(|| near.apply(&key, &other)).await?;
    let again = clients.beside(|| near.attempt_apply(attempt.again(), &key, &sale)).await?;
    if clients.has_let_go() && first == Counted::OutOfBounds {
        ensure_matches!(again, Counted::AlreadyApplied { .. }, "the sale that was delivered before another, repeated");
        return Ok(true);
    }
    ensure_matches!(first, Counted::Applied { .. }, "another sale");
    ensure_eq!(again, Counted::OutOfBounds, "the repeated sale");
    ensure_matches!(clients.beside(|| near.apply(&key, &back)).await?, Counted::Applied { .. }, "what comes back");
    clients.let_go().await;
    ensure_eq!(near.value(&key).await?, 1, "the stock, at request {passing}");
    ensure_matches!(near.apply(&key, &sale).await?, Counted::Applied { .. }, "another call of the sale");
    Ok(true)
}

type Banks = (Arc<dyn ItemBank>, Arc<dyn ItemBank>);

fn banks(clients: &Clients<'_>, passing: usize) -> Result<Banks> {
    let name = format!("bank-{passing}").parse()?;
    Ok((clients.far.item_bank(&name)?, clients.fresh.item_bank(&name)?))
}
