//! Two processes compete, each under its own name. Each reports what it won.

use storagebox_core::{
    Backend, Change, ClaimId, Consumed, Counter, DedupId, DedupRepo, Hold, Item, ItemBank, Key, OpId, Recorded, Result,
    Retention, Strategy, TokenId, TokenStore,
};

use crate::failure::{Failure, Verdict, ensure_eq};
use crate::race::answered;

/// The number of items, of tokens and of records for which the processes race.
const PRIZES: usize = 24;

/// The number of changes that each process makes to the counter.
const CHANGES: usize = 24;

fn names() -> impl Iterator<Item = String> {
    (0..PRIZES).map(|number| format!("n{number}"))
}

pub(crate) async fn prepare(store: &dyn Backend) -> Verdict {
    let items: Vec<Item> = names().map(Item::new).collect::<Result<_>>()?;
    store.item_bank(&"race".parse()?)?.add(&items).await?;
    let tokens: Vec<TokenId> = names().map(TokenId::new).collect::<Result<_>>()?;
    store.token_store(&"race".parse()?)?.create_tokens(&tokens).await?;
    Ok(())
}

/// Takes part in the race under this name. Returns the items, tokens and records that this participant won.
pub(crate) async fn run(store: &dyn Backend, name: &str) -> Result<Vec<String>, Failure> {
    let (bank, tokens) = (store.item_bank(&"race".parse()?)?, store.token_store(&"race".parse()?)?);
    let records = store.dedup_repo(&"race".parse()?)?;
    let mut won = vec![];
    for prize in names() {
        let own = format!("{name}/{prize}");
        let (claim, op) = (ClaimId::new(&*own)?, OpId::new(&*own)?);
        let taken = answered(|| bank.take(&claim, Hold::Forever)).await?;
        won.extend(taken.item().map(|item| format!("item:{}", item.as_str())));
        let token = TokenId::new(&*prize)?;
        if answered(|| tokens.consume(&token, &op)).await? != Consumed::AlreadyGone {
            won.push(format!("token:{prize}"));
        }
        let (id, value) = (DedupId::new(&*prize)?, own.as_str().try_into()?);
        let recorded = answered(|| records.record(&id, &value, &op, Retention::Forever)).await?;
        if let Recorded::New(_) | Recorded::Again(_) = recorded {
            won.push(format!("record:{prize}"));
        }
    }
    count(store, name).await?;
    Ok(won)
}

fn counter(store: &dyn Backend) -> Result<std::sync::Arc<dyn Counter>> {
    store.counter(&"race".parse()?, Strategy::Marker { retention: Retention::Forever })
}

async fn count(store: &dyn Backend, name: &str) -> Verdict {
    let (counter, key) = (counter(store)?, Key::new("key")?);
    for number in 0..CHANGES {
        let change = Change::new(OpId::new(format!("{name}/{number}"))?, 1);
        let _ = answered(|| counter.apply(&key, &change)).await?;
    }
    Ok(())
}

/// Checks that each item, token and record was won once and that each change was counted.
pub(crate) async fn judge(store: &dyn Backend, mut won: Vec<String>) -> Verdict {
    won.sort_unstable();
    let mut expected: Vec<String> =
        ["item", "token", "record"].iter().flat_map(|kind| names().map(move |name| format!("{kind}:{name}"))).collect();
    expected.sort_unstable();
    ensure_eq!(won, expected, "what two processes won");
    ensure_eq!(counter(store)?.value(&Key::new("key")?).await?, 2 * CHANGES as i64, "what two processes counted");
    Ok(())
}
