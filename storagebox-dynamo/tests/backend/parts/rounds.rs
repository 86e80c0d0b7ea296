//! Many orders whose transactions are lost, late, refused or dropped: each order has its voucher and its change of the
//! stock, and each voucher its order.

use std::collections::BTreeMap;
use std::env;

use fastrand::Rng;
use futures_util::future::try_join_all;
use storagebox_core::{Backend, Change, ClaimState, Counter, Held, Item, ItemBank, Result, Strategy, Taken};
use storagebox_dynamo::{Explained, PartOutcome, Parts};
use storagebox_testkit::checks::{drop_after, id};
use storagebox_testkit::dynamodb::faults::Fault;

use super::shop::Shop;
use crate::support::Place;

/// The number of callers that make orders at the same time.
const AT_ONCE: usize = 4;
/// The share of transactions with a fault, in percent.
const FAULTS: u8 = 50;
const KINDS: [Fault; 12] = [
    Fault::DropBefore,
    Fault::DropAfter,
    Fault::ErrorBefore,
    Fault::ErrorAfter,
    Fault::Torn,
    Fault::Throttle,
    Fault::Conflict,
    Fault::Mixed,
    Fault::InProgress,
    Fault::Late,
    Fault::Parked,
    Fault::Twice,
];

/// How often each outcome of a transaction occurred.
type Ends = BTreeMap<&'static str, usize>;

/// Makes `count` orders. Checks all of them after the last late request has arrived.
pub(crate) async fn rounds(place: &Place, count: usize) -> Result<()> {
    let seed =
        env::var("STORAGEBOX_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| Rng::new().u64(..));
    println!("STORAGEBOX_SEED={seed}");
    let shop = Shop::open(place).await?;
    let items = (0..count + AT_ONCE).map(|number| Item::new(format!("code-{number}")));
    shop.store.item_bank(&id("vouchers"))?.add(&items.collect::<Result<Vec<_>>>()?).await?;
    shop.faults.random(seed, FAULTS, &KINDS);
    let callers = (0..AT_ONCE).map(|caller| bought(&shop, seed, caller, count / AT_ONCE));
    let ends = try_join_all(callers).await?;
    let faults = shop.faults.total();
    shop.faults.heal();
    shop.faults.land().await;
    let mut all = Ends::new();
    ends.iter().flatten().for_each(|(end, times)| *all.entry(*end).or_default() += times);
    println!("{count} orders with {faults} faults: {all:?}");
    for caller in 0..AT_ONCE {
        for number in 0..count / AT_ONCE {
            is_whole(&shop, &name(caller, number)).await?;
        }
    }
    let stock = shop.store.counter(&id("stock"), Strategy::default())?.value(&id("vouchers")).await?;
    assert_eq!(stock, -i64::try_from(count / AT_ONCE * AT_ONCE).unwrap(), "the stock");
    for end in ["done", "committed", "again", "try again", "unknown", "killed"] {
        assert!(all.contains_key(end), "nothing was {end:?}");
    }
    Ok(())
}

fn name(caller: usize, number: usize) -> String {
    format!("order-{caller}-{number}")
}

/// Makes the orders of one caller, one after another.
async fn bought(shop: &Shop, seed: u64, caller: usize, count: usize) -> Result<Ends> {
    let (mut rng, mut ends) = (Rng::with_seed(seed.wrapping_add(caller as u64)), Ends::new());
    for number in 0..count {
        let name = name(caller, number);
        while !attempted(shop, &mut rng, &name, &mut ends).await? {}
        is_whole(shop, &name).await?;
    }
    Ok(ends)
}

/// Sends transactions, each with new `Parts`, until the outcome is known, or until the caller is killed. Returns
/// whether the order exists.
async fn attempted(shop: &Shop, rng: &mut Rng, order: &str, ends: &mut Ends) -> Result<bool> {
    let mut parts = shop.store.parts();
    let held = match parts.assign(&id("vouchers"), &id(order)).await? {
        Taken::New(held) => held,
        Taken::Again(_) => return noted(ends, "again", true),
        other => panic!("{order}: {other:?}"),
    };
    let change = Change::new(id(order), -1);
    let _ = parts.apply(&id("stock"), Strategy::default(), &id("vouchers"), &change).await?;
    loop {
        let end = sent(shop, rng, &parts, order, &held).await?;
        let (end, is_there) = match end {
            None => ("killed", false),
            Some(None) => ("done", true),
            Some(Some(Explained::Committed)) => ("committed", true),
            Some(Some(Explained::Ours { call: 0, outcome: PartOutcome::Taken(Taken::Again(_)) })) => ("ours", true),
            Some(Some(Explained::TryAgain)) => ("try again", false),
            Some(Some(Explained::Unknown)) if rng.bool() => {
                noted(ends, "unknown", false)?;
                continue;
            }
            Some(Some(Explained::Unknown)) => ("unknown", false),
            Some(Some(other)) => panic!("{order}: {other:?}"),
        };
        return noted(ends, end, is_there);
    }
}

/// Sends the transaction, half of the time with another request token, as if ten minutes had passed. Returns `None`
/// if the caller was killed.
async fn sent(
    shop: &Shop,
    rng: &mut Rng,
    parts: &Parts,
    order: &str,
    held: &Held,
) -> Result<Option<Option<Explained>>> {
    let own = vec![shop.order(order, held.item.as_str())];
    let late = format!("{:032x}", rng.u128(..));
    let token = if rng.bool() { &late } else { parts.request_token() };
    let sending = shop.send_as(parts, own, token);
    match rng.u8(..8) {
        0 => drop_after(rng.usize(..8), sending).await.transpose(),
        _ => sending.await.map(Some),
    }
}

fn noted(ends: &mut Ends, end: &'static str, is_there: bool) -> Result<bool> {
    *ends.entry(end).or_default() += 1;
    Ok(is_there)
}

/// Checks that the order exists and names the voucher that its claim holds.
async fn is_whole(shop: &Shop, order: &str) -> Result<()> {
    let state = shop.store.item_bank(&id("vouchers"))?.get(&id(order)).await?;
    let ClaimState::Held(held) = state else { panic!("{order} has no voucher: {state:?}") };
    assert_eq!(shop.voucher_of(order).await?.as_deref(), Some(held.item.as_str()), "{order}");
    Ok(())
}
