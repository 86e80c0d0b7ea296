//! J-1: calls take effect with the caller's transaction, or not at all, and leave the rows of the store's own calls.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::{Backend, ClaimState, Item, ItemBank, Result, Taken};
use storagebox_dynamo::Explained;
use storagebox_testkit::checks::id;

use super::calls::Call;
use super::shop::Shop;
use crate::scene::{with_place, with_table};
use crate::support::Place;

#[test]
fn an_order_and_its_voucher_are_written_together() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let bank = shop.store.item_bank(&id("vouchers"))?;
        bank.add(&[Item::new("SAVE-10")?]).await?;
        let mut parts = shop.store.parts();
        let Taken::New(held) = parts.assign(&id("vouchers"), &id("ada")).await? else { panic!() };
        assert_eq!((held.item.as_str(), parts.actions()), ("SAVE-10", 2));
        assert_eq!(bank.get(&id("ada")).await?, ClaimState::Unknown, "before the transaction is sent");
        assert_eq!(shop.send(&parts, vec![shop.order("1", held.item.as_str())]).await?, None);
        assert_eq!(shop.voucher_of("1").await?.as_deref(), Some("SAVE-10"));
        assert_eq!(bank.get(&id("ada")).await?, ClaimState::Held(held.clone()));

        let mut again = shop.store.parts();
        assert_eq!(again.assign(&id("vouchers"), &id("ada")).await?, Taken::Again(held));
        assert_eq!((again.actions(), again.bytes()), (0, 0));
        Ok(())
    })
}

#[test]
fn every_call_is_written_with_the_order_or_not_at_all() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        assert_eq!(shop.send(&shop.store.parts(), vec![shop.order("old", "")]).await?, None);
        for call in Call::ALL {
            call.prepare(&shop.store).await?;
            let mut parts = shop.store.parts();
            call.plan(&mut parts).await?;
            assert_eq!(parts.actions(), call.actions(), "{call:?}");
            let before = rows(place).await?;
            let (new, old) = (shop.order(&format!("{call:?}"), ""), shop.order("old", ""));
            let explained = shop.send(&parts, vec![new.clone(), old]).await?;
            assert_eq!(explained, Some(Explained::Yours { index: 1 }), "{call:?}");
            assert_eq!(rows(place).await?, before, "{call:?} beside an order that was refused");
            let mut parts = shop.store.parts();
            call.plan(&mut parts).await?;
            assert_eq!(shop.send(&parts, vec![new]).await?, None, "{call:?}");
            assert_ne!(rows(place).await?, before, "{call:?} beside an order that was taken");
        }
        Ok(())
    })
}

/// Makes all calls in one transaction of a caller, and directly on a second store with the same clock. Compares the
/// outcomes and the rows.
#[test]
fn calls_in_a_transaction_have_the_effects_of_direct_calls() -> Result<()> {
    with_table(async |table| {
        let (ours, theirs) = (table.place().await?, table.place().await?);
        let theirs = Place { clock: ours.clock.clone(), ..theirs };
        let (shop, store) = (Shop::open(&ours).await?, theirs.store().await?);
        let mut parts = shop.store.parts();
        let mut actions = 0;
        for call in Call::ALL {
            call.prepare(&shop.store).await?;
            call.prepare(&store).await?;
            assert_eq!(call.plan(&mut parts).await?, call.make(&store).await?, "{call:?}");
            actions += call.actions();
        }
        assert_eq!(parts.actions(), actions);
        assert_eq!(shop.send(&parts, vec![]).await?, None);
        assert_eq!(rows(&ours).await?, rows(&theirs).await?);
        let again = &mut shop.store.parts();
        for call in Call::ALL {
            let expected = call.make(&store).await?;
            assert_eq!(call.plan(again).await?, expected, "{call:?}, planned again");
            assert_eq!(call.make(&shop.store).await?, expected, "{call:?}, made by the store");
        }
        assert_eq!(again.actions(), 0);
        Ok(())
    })
}

/// The store fetches one candidate at a time. Each call gets an item that no earlier call of the transaction has
/// chosen.
#[test]
fn two_claims_of_one_transaction_get_two_items() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::with(
            place,
            place.builder().shards(1).fetch_limit(1).from_client(&place.table.client(None, None).await)?,
        )
        .await?;
        let bank = shop.store.item_bank(&id("vouchers"))?;
        bank.add(&["1", "2", "3"].map(|code| Item::new(code).unwrap())).await?;
        let mut parts = shop.store.parts();
        let mut taken = vec![];
        for claim in ["ada", "bob", "cara"] {
            let Taken::New(held) = parts.assign(&id("vouchers"), &id(claim)).await? else { panic!("{claim}") };
            taken.push(held.item);
        }
        assert_eq!(parts.assign(&id("vouchers"), &id("dora")).await?, Taken::Empty);
        taken.sort();
        taken.dedup();
        assert_eq!((taken.len(), parts.actions()), (3, 6));
        assert_eq!(shop.send(&parts, vec![]).await?, None);
        assert_eq!(bank.counts().await?.held, 3);
        Ok(())
    })
}

/// A row as text, without the tag of a call and without the key prefix of a place.
type Plain = BTreeMap<String, String>;

/// Returns the rows with the key prefix of a place, in an order that does not depend on the prefix.
async fn rows(place: &Place) -> Result<Vec<Plain>> {
    let rows = place.rows().await?;
    let mut plain: Vec<_> = rows.iter().map(|row| plain(row, &place.prefix)).collect();
    plain.sort();
    Ok(plain)
}

fn plain(row: &HashMap<String, AttributeValue>, prefix: &str) -> Plain {
    let shown = |(name, value): (&String, &AttributeValue)| match (name.as_str(), value) {
        // The tags of calls are random.
        ("t" | "m", AttributeValue::S(_)) => (name.clone(), "a tag".to_owned()),
        ("pk", AttributeValue::S(key)) => (name.clone(), key.strip_prefix(prefix).unwrap().to_owned()),
        _ => (name.clone(), format!("{value:?}")),
    };
    row.iter().map(shown).collect()
}
