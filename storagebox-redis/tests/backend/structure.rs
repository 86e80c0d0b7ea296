//! The data on the server, read without the library.

use redis::cmd;
use storagebox_core::{Backend, ClaimId, ClaimState, Hold, Item, ItemBank, Result};

use crate::scene::with_place;
use crate::support::Place;

pub(crate) async fn namespaces(place: &Place) -> Result<Vec<String>> {
    place.server.ask(cmd("SMEMBERS").arg(format!("{}:{{store}}:namespaces", place.prefix))).await
}

pub(crate) async fn keys(place: &Place) -> Result<Vec<String>> {
    place.server.ask(cmd("KEYS").arg(format!("{}:*", place.prefix))).await
}

/// All keys of a namespace have the same hash tag, so that a cluster keeps them in one slot.
#[test]
fn all_keys_of_a_namespace_are_in_one_slot_and_none_expires() -> Result<()> {
    with_place(async |place| {
        let bank = place.store()?.item_bank(&"a}b".parse()?)?;
        bank.add(&(0..50).map(|number| Item::new(format!("{number}"))).collect::<Result<Vec<_>>>()?).await?;
        for number in 0..20 {
            let _ = bank.take(&format!("claim-{number}").parse()?, Hold::Forever).await?;
        }
        let tag = format!("{}:{{b.a%7Db.0}}", place.prefix);
        let of_namespace: Vec<_> = keys(place).await?.into_iter().filter(|key| !key.contains("{store}")).collect();
        assert!(of_namespace.len() > 20 && of_namespace.iter().all(|key| key.starts_with(&tag)), "{of_namespace:?}");
        let mut ends = redis::pipe();
        for key in &of_namespace {
            ends.cmd("TTL").arg(key);
        }
        let ends: Vec<i64> = place.server.ask_all(&ends).await?;
        assert_eq!(ends, vec![-1; of_namespace.len()], "{of_namespace:?}");
        Ok(())
    })
}

#[test]
fn scripts_and_library_agree_on_the_bucket_of_a_claim() -> Result<()> {
    with_place(async |place| {
        let bank = place.store()?.item_bank(&"namespace".parse()?)?;
        bank.add(&(0..100).map(|number| Item::new(format!("{number}"))).collect::<Result<Vec<_>>>()?).await?;
        for number in 0..100 {
            let claim = ClaimId::new("é".repeat(number % 7) + &number.to_string())?;
            let taken = bank.take(&claim, Hold::Forever).await?;
            match bank.get(&claim).await? {
                ClaimState::Held(held) => assert_eq!(Some(&held.item), taken.item(), "{claim:?}"),
                other => panic!("{claim:?} is {other:?}"),
            }
        }
        Ok(())
    })
}

#[test]
fn a_store_with_regular_upkeep_does_not_grow() -> Result<()> {
    with_place(async |place| {
        let store = place.store()?;
        let tokens = store.token_store(&"namespace".parse()?)?;
        let week = std::time::Duration::from_secs(8 * 24 * 3_600);
        let mut sizes = vec![];
        for round in 0..3 {
            let names: Vec<_> = (0..50)
                .map(|number| storagebox_core::TokenId::new(format!("{round}-{number}")))
                .collect::<Result<_>>()?;
            tokens.create_tokens(&names).await?;
            tokens.discard(&names).await?;
            place.moved.advance(week);
            while store.maintain(1_000).await?.more {}
            sizes.push(keys(place).await?);
        }
        assert_eq!(sizes[1].len(), sizes[2].len(), "{sizes:?}");
        Ok(())
    })
}
