//! Six callers for each id at once, over three connections, on a bank that holds exactly as many items as there are ids.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use storagebox_core::{BankAdmin, ClaimId, Counts, Hold, Item, ItemBank, Result, StoreExt, Taken};
use storagebox_redis::RedisStore;
use tokio::task::JoinSet;

use crate::scene::with_place;

const IDS: usize = 600;
const CALLERS: usize = 6;
const ROUNDS: usize = 10;
/// Each has one connection.
const CLIENTS: usize = 3;

/// What the callers were told, and what is wrong with it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Findings {
    /// Items that two ids have.
    double: usize,
    /// Ids that were told of two items, or twice that the item is new.
    mixed: usize,
    /// Ids that got none while there was one for each.
    unserved: usize,
    /// Items that are nowhere any more.
    lost: usize,
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn nothing_is_lost_or_given_twice_under_stress() -> Result<()> {
    with_place(async |place| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| place.store()).collect::<Result<_>>()?;
        let start = Instant::now();
        for round in 0..ROUNDS {
            let found = wave(&clients, &format!("{round}")).await?;
            assert_eq!(found, Findings::default(), "round {round}");
        }
        let takes = ROUNDS * IDS * CALLERS;
        println!(
            "stress: {takes} takes by {CALLERS} callers for each of {IDS} ids over {CLIENTS} connections, {ROUNDS} \
             rounds: 0 lost, 0 double, 0 unserved, 0 mixed; {:.0} takes a second",
            takes as f64 / start.elapsed().as_secs_f64()
        );
        Ok(())
    })
    .await
}

/// All callers at once, on a bank of their own.
async fn wave(clients: &[RedisStore], name: &str) -> Result<Findings> {
    let banks: Vec<_> = clients.iter().map(|client| client.bank(name)).collect::<Result<_>>()?;
    let items: Vec<_> =
        (0..IDS).map(|number| Item::new(format!("{name}-{number}"))).collect::<Result<_>>()?;
    banks[0].add(&items).await?;
    let mut calls: Vec<_> = (0..IDS * CALLERS).collect();
    fastrand::shuffle(&mut calls);
    let mut callers = JoinSet::new();
    for call in calls {
        let (bank, id) = (Arc::clone(&banks[call % CLIENTS]), call / CALLERS);
        let claim = ClaimId::new(format!("id-{id}"))?;
        callers.spawn(async move { bank.take(&claim, Hold::Forever).await.map(|taken| (id, taken)) });
    }
    let told = callers.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
    judge(&banks[0], told).await
}

async fn judge(bank: &Arc<dyn BankAdmin>, told: Vec<(usize, Taken)>) -> Result<Findings> {
    let (mut found, mut given, mut new) = (Findings::default(), HashMap::new(), HashSet::new());
    for (id, taken) in told {
        let is_new = matches!(taken, Taken::New(_));
        let (Taken::New(held) | Taken::Again(held)) = taken else {
            found.unserved += 1;
            continue;
        };
        let earlier = given.entry(id).or_insert_with(|| held.item.clone());
        found.mixed += usize::from(*earlier != held.item || (is_new && !new.insert(id)));
    }
    found.mixed += IDS - new.len();
    found.double = given.len() - given.values().collect::<HashSet<_>>().len();
    found.lost = IDS - in_the_bank(bank, &given).await?;
    Ok(found)
}

/// How many items are held by the ids that were told so.
async fn in_the_bank(bank: &Arc<dyn BankAdmin>, given: &HashMap<usize, Item>) -> Result<usize> {
    let mut held = 0;
    for (id, item) in given {
        let holder = storagebox_core::ItemState::Held(ClaimId::new(format!("id-{id}"))?);
        held += usize::from(bank.holder(item).await? == holder);
    }
    let counts = Counts { free: 0, held: IDS as u64, spent: 0, withdrawn: 0 };
    assert_eq!(bank.counts().await?, counts);
    Ok(held)
}
