//! Waves of callers on a bank that holds exactly as many items as there are ids.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use storagebox_core::{Backend, ClaimId, Counts, Hold, Item, ItemBank, ItemState, Result, Taken};
use tokio::task::JoinSet;

/// The number of ids in one wave.
pub const IDS: usize = 600;
/// The number of concurrent callers per id.
pub const CALLERS: usize = 6;

/// The numbers of wrong answers and lost items after a wave.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The number of items that two ids have.
    pub double: usize,
    /// The number of ids that got two different items, or two answers that the item is new.
    pub mixed: usize,
    /// The number of ids that got no item although there was an item for each id.
    pub unserved: usize,
    /// The number of items that have disappeared.
    pub lost: usize,
}

/// Runs all callers of a wave at once, on a new bank. Returns the numbers of wrong answers and lost items.
///
/// # Errors
///
/// Returns the errors of the bank.
///
/// # Panics
///
/// Panics if the bank's own count contradicts its answers.
pub async fn wave(clients: &[impl Backend], name: &str) -> Result<Findings> {
    let banks: Vec<_> = clients.iter().map(|client| client.item_bank(&name.parse()?)).collect::<Result<_>>()?;
    let items: Vec<_> = (0..IDS).map(|number| Item::new(format!("{name}-{number}"))).collect::<Result<_>>()?;
    banks[0].add(&items).await?;
    let mut calls: Vec<_> = (0..IDS * CALLERS).collect();
    fastrand::shuffle(&mut calls);
    let mut callers = JoinSet::new();
    for call in calls {
        let (bank, id) = (Arc::clone(&banks[call % clients.len()]), call / CALLERS);
        let claim = ClaimId::new(format!("id-{id}"))?;
        callers.spawn(async move { bank.take(&claim, Hold::Forever).await.map(|taken| (id, taken)) });
    }
    let told = callers.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
    judge(&banks[0], told).await
}

async fn judge(bank: &Arc<dyn ItemBank>, told: Vec<(usize, Taken)>) -> Result<Findings> {
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

/// Checks the counts of the bank, and returns how many of the given items are held by the right ids.
async fn in_the_bank(bank: &Arc<dyn ItemBank>, given: &HashMap<usize, Item>) -> Result<usize> {
    let mut held = 0;
    for (id, item) in given {
        let holder = ItemState::Held(ClaimId::new(format!("id-{id}"))?);
        held += usize::from(bank.holder(item).await? == holder);
    }
    let counts = Counts { free: 0, held: IDS as u64, spent: 0, withdrawn: 0 };
    assert_eq!(bank.counts().await?, counts);
    Ok(held)
}
