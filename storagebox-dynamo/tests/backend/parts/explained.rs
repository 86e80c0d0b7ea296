//! What an error of the caller's transaction means, for each call and each kind of error.

use std::time::Duration;

use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, TransactWriteItem, Update};
use storagebox_core::{
    Backend, Begun, Bounds, Change, ClaimState, Confirmed, Consumed, Counted, Counter, DedupRepo, End, ErrorKind, Hold,
    Item, ItemBank, LeaseRepo, OrderedOptions, OrderedStore, Payload, Recorded, Released, Result, Retention, Stamp,
    Strategy, Taken, TokenStore, Written,
};
use storagebox_dynamo::{DynamoStore, Explained, PartOutcome};
use storagebox_testkit::checks::id;
use storagebox_testkit::dynamodb::faults::Fault;

use super::calls::Call;
use super::shop::{Shop, text};
use crate::scene::{with_place, with_table};
use crate::support::{Place, failed};

const HOUR: Duration = Duration::from_secs(3_600);
/// Faults after which the caller does not know the outcome of a request.
const LOSSES: [Fault; 5] = [Fault::DropBefore, Fault::DropAfter, Fault::ErrorBefore, Fault::ErrorAfter, Fault::Torn];

/// Returns the explanation that the first call has this outcome.
fn ours(outcome: PartOutcome) -> Option<Explained> {
    Some(Explained::Ours { call: 0, outcome })
}

fn value() -> Payload {
    Payload::try_from("value").unwrap()
}

#[test]
fn a_transaction_sent_again_after_a_lost_reply_is_made_once() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let bank = shop.store.item_bank(&id("vouchers"))?;
        for fault in LOSSES {
            let name = format!("{fault:?}");
            bank.add(&[Item::new(name.as_str())?]).await?;
            let mut parts = shop.store.parts();
            let Taken::New(held) = parts.assign(&id("vouchers"), &id(&name)).await? else { panic!("{fault:?}") };
            shop.faults.script_for("TransactWriteItems", [fault]);
            let order = shop.order(&name, held.item.as_str());
            assert_eq!(shop.send(&parts, vec![order.clone()]).await?, Some(Explained::Unknown), "{fault:?}");
            assert_eq!(shop.send(&parts, vec![order]).await?, None, "{fault:?}, sent again");
            assert_eq!(bank.get(&id(&name)).await?, ClaimState::Held(held.clone()), "{fault:?}");
            assert_eq!(shop.voucher_of(&name).await?.as_deref(), Some(held.item.as_str()), "{fault:?}");
        }
        assert_eq!(shop.faults.total(), LOSSES.len() as u64);
        Ok(())
    })
}

/// The service no longer knows the request token. Each call recognises its own row.
#[test]
fn a_committed_transaction_is_recognised_without_its_token() -> Result<()> {
    with_table(async |table| {
        for call in Call::ALL {
            let shop = Shop::open(&table.place().await?).await?;
            call.prepare(&shop.store).await?;
            let mut parts = shop.store.parts();
            call.plan(&mut parts).await?;
            shop.faults.script_for("TransactWriteItems", [Fault::DropAfter]);
            assert_eq!(shop.send(&parts, vec![]).await?, Some(Explained::Unknown), "{call:?}");
            assert_eq!(shop.send_as(&parts, vec![], "later").await?, Some(Explained::Committed), "{call:?}");
        }
        Ok(())
    })
}

/// Another caller makes the same call before the transaction arrives.
#[test]
fn explain_names_each_call_that_another_caller_made_first() -> Result<()> {
    with_table(async |table| {
        for call in Call::ALL {
            let shop = Shop::open(&table.place().await?).await?;
            call.prepare(&shop.store).await?;
            let mut parts = shop.store.parts();
            call.plan(&mut parts).await?;
            call.make(&shop.store).await?;
            let explained = shop.send(&parts, vec![shop.order("1", "")]).await?;
            assert_eq!(explained, ours(call.make(&shop.store).await?), "{call:?}");
            assert_eq!(shop.voucher_of("1").await?, None, "{call:?}");
        }
        Ok(())
    })
}

/// Earlier calls count in the number of a call, even if they added no item.
#[test]
fn explain_names_a_refused_call_by_its_number() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let bank = shop.store.item_bank(&id("vouchers"))?;
        bank.add(&[Item::new("1")?, Item::new("2")?]).await?;
        let known = bank.take(&id("ada"), Hold::Forever).await?;
        let mut parts = shop.store.parts();
        assert_eq!(parts.assign(&id("vouchers"), &id("ada")).await?.item(), known.item());
        let _ = parts.assign(&id("vouchers"), &id("bob")).await?;
        let _ = parts.create_token(&id("mails"), &id("mail")).await?;
        let tokens = shop.store.token_store(&id("mails"))?;
        tokens.discard(&[id("mail")]).await?;
        let gone = PartOutcome::Created(tokens.create_tokens(&[id("mail")]).await?);
        let explained = shop.send(&parts, vec![]).await?;
        assert_eq!(explained, Some(Explained::Ours { call: 2, outcome: gone }));
        Ok(())
    })
}

#[test]
fn explain_names_the_call_whose_claim_ended_meanwhile() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let bank = shop.store.item_bank(&id("vouchers"))?;
        bank.add(&["1", "2", "3", "4"].map(|code| Item::new(code).unwrap())).await?;
        for claim in ["confirm", "release"] {
            let _ = bank.take(&id(claim), Hold::For(HOUR)).await?;
        }
        let [mut assign, mut confirm, mut release] = [(); 3].map(|()| shop.store.parts());
        let _ = assign.assign(&id("vouchers"), &id("assign")).await?;
        let _ = confirm.confirm(&id("vouchers"), &id("confirm")).await?;
        let _ = release.release(&id("vouchers"), &id("release")).await?;
        let _ = bank.release(&id("assign")).await?;
        let _ = bank.release(&id("confirm")).await?;
        let _ = bank.confirm(&id("release")).await?;
        let ended = PartOutcome::Taken(Taken::Ended(End::Released));
        assert_eq!(shop.send(&assign, vec![]).await?, ours(ended));
        let ended = PartOutcome::Confirmed(Confirmed::Ended(End::Released));
        assert_eq!(shop.send(&confirm, vec![]).await?, ours(ended));
        assert_eq!(shop.send(&release, vec![]).await?, ours(PartOutcome::Released(Released::Confirmed)));
        Ok(())
    })
}

/// If the end were only returned, a late `confirm` that was sent in time could still confirm the hold.
#[test]
fn the_end_of_a_hold_is_written_before_it_is_returned() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let bank = shop.store.item_bank(&id("vouchers"))?;
        bank.add(&[Item::new("1")?, Item::new("2")?]).await?;
        let mut parts = shop.store.parts();
        let _ = parts.assign(&id("vouchers"), &id("ada")).await?;
        let _ = bank.take(&id("ada"), Hold::For(HOUR)).await?;
        place.clock.advance(2 * HOUR);
        assert_eq!(shop.send(&parts, vec![]).await?, Some(Explained::TryAgain));
        let mut parts = shop.store.parts();
        assert_eq!(parts.assign(&id("vouchers"), &id("ada")).await?, Taken::Ended(End::Expired));
        assert_eq!(parts.confirm(&id("vouchers"), &id("ada")).await?, Confirmed::Ended(End::Expired));
        assert_eq!(parts.release(&id("vouchers"), &id("ada")).await?, Released::Expired);
        assert_eq!(parts.actions(), 0);
        Ok(())
    })
}

/// `assign` ends the hold and frees its item before the transaction is sent. If the transaction is never sent, the item
/// stays free.
#[test]
fn the_item_of_a_hold_that_ran_out_is_assigned() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let bank = shop.store.item_bank(&id("vouchers"))?;
        bank.add(&[Item::new("1")?]).await?;
        let _ = bank.take(&id("ada"), Hold::For(HOUR)).await?;
        place.clock.advance(2 * HOUR);
        let mut parts = shop.store.parts();
        assert!(matches!(parts.assign(&id("vouchers"), &id("bob")).await?, Taken::New(_)));
        assert_eq!((bank.get(&id("ada")).await?, bank.counts().await?.free), (ClaimState::Ended(End::Expired), 1));
        assert_eq!(shop.send(&parts, vec![]).await?, None);
        assert_eq!(bank.counts().await?.held, 1);
        Ok(())
    })
}

#[test]
fn explain_names_the_change_that_its_counter_refuses() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let counter = shop.store.counter(&id("stock"), Strategy::default())?;
        let key = &id("key");
        let _ = counter.apply(key, &Change::new(id("first"), 5)).await?;
        let refused = [
            (Change::new(id("a"), -6).within(Bounds::at_least(0)), Counted::OutOfBounds),
            (Change::new(id("b"), i64::MAX), Counted::Overflow),
        ];
        for (change, counted) in refused {
            let mut parts = shop.store.parts();
            let applied = parts.apply(&id("stock"), Strategy::default(), key, &change).await?;
            assert_eq!(applied, Counted::Applied { value: None });
            assert_eq!(shop.send(&parts, vec![]).await?, ours(PartOutcome::Counted(counted)), "{change:?}");
        }
        let mut parts = shop.store.parts();
        let change = Change::new(id("c"), 1);
        let _ = parts.apply(&id("stock"), Strategy::default(), key, &change).await?;
        let _ = counter.cancel(key, &id("c")).await?;
        assert_eq!(shop.send(&parts, vec![]).await?, ours(PartOutcome::Counted(Counted::Fenced)));
        let mut parts = shop.store.parts();
        for (op, counted) in [("first", Counted::Mismatch), ("c", Counted::Fenced)] {
            let change = Change::new(id(op), 9);
            assert_eq!(parts.apply(&id("stock"), Strategy::default(), key, &change).await?, counted);
        }
        assert_eq!((parts.actions(), counter.value(key).await?), (0, 5));
        Ok(())
    })
}

/// Other callers have written the record, the token and the ordered value first.
#[test]
fn explain_names_the_call_whose_row_another_caller_wrote() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let store = &shop.store;
        let (records, leases) = (store.dedup_repo(&id("ids"))?, store.lease_repo(&id("ids"))?);
        let (tokens, options) = (store.token_store(&id("mails"))?, OrderedOptions::sequence());
        let (values, newer) = (store.ordered_store(&id("values"), options)?, Stamp::new(9, id("ada")));
        tokens.create_tokens(&[id("mail")]).await?;
        let [mut first, mut leased, mut consume, mut put] = [(); 4].map(|()| store.parts());
        let _ = first.record(&id("ids"), &id("a"), &value(), &id("ours"), Retention::Forever).await?;
        let _ = leased.record(&id("ids"), &id("b"), &value(), &id("ours"), Retention::Forever).await?;
        let _ = consume.consume(&id("mails"), &id("mail"), &id("ours")).await?;
        let older = Stamp::new(8, id("ada"));
        let _ = put.put(&id("values"), options, &id("key"), &value(), &older).await?;

        let _ = records.record(&id("a"), &value(), &id("theirs"), Retention::Forever).await?;
        let Begun::Started(_) = leases.begin(&id("b"), &id("theirs"), HOUR, None).await? else { panic!() };
        let _ = tokens.consume(&id("mail"), &id("theirs")).await?;
        let _ = values.put(&id("key"), &value(), &newer).await?;

        let entry = records.get(&id("a")).await?.unwrap();
        let existing = PartOutcome::Recorded(Recorded::Existing(entry));
        assert_eq!(shop.send(&first, vec![]).await?, ours(existing));
        let in_flight = PartOutcome::Recorded(Recorded::InFlight { remaining: HOUR });
        assert_eq!(shop.send(&leased, vec![]).await?, ours(in_flight));
        assert_eq!(shop.send(&consume, vec![]).await?, ours(PartOutcome::Consumed(Consumed::AlreadyGone)));
        let stale = PartOutcome::Written(Written::Stale { current: newer });
        assert_eq!(shop.send(&put, vec![]).await?, ours(stale));
        Ok(())
    })
}

/// The operation of the call ended before the last operation of its id. The ended operation has a separate row, which a
/// refusal does not show.
#[test]
fn record_recognises_an_ended_operation_that_is_not_the_last() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let leases = shop.store.lease_repo(&id("ids"))?;
        let mut parts = shop.store.parts();
        let _ = parts.record(&id("ids"), &id("id"), &value(), &id("first"), Retention::Forever).await?;
        for op in ["first", "second"] {
            let Begun::Started(lease) = leases.begin(&id("id"), &id(op), HOUR, None).await? else { panic!("{op}") };
            let _ = leases.abort(&lease).await?;
        }
        // By its row alone, the id is in flight.
        let Begun::Started(_) = leases.begin(&id("id"), &id("third"), HOUR, None).await? else { panic!() };
        assert_eq!(shop.send(&parts, vec![]).await?, Some(Explained::TryAgain));
        let fenced =
            shop.store.parts().record(&id("ids"), &id("id"), &value(), &id("first"), Retention::Forever).await?;
        assert_eq!(fenced, Recorded::Fenced);
        Ok(())
    })
}

#[test]
fn a_put_older_than_the_horizon_adds_no_action() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let (mut parts, options) = (shop.store.parts(), OrderedOptions::default());
        let old = Stamp::new(1, id("ada"));
        let written = parts.put(&id("values"), options, &id("key"), &value(), &old).await?;
        assert!(matches!(written, Written::TooOld { .. }), "{written:?}");
        let far = Stamp::new(i64::MAX, id("ada"));
        let error = parts.delete(&id("values"), options, &id("key"), &far).await.unwrap_err();
        assert_eq!((error.kind(), parts.actions()), (ErrorKind::InvalidInput, 0), "{error}");
        Ok(())
    })
}

/// `assign` has chosen an item. Another claim takes this item before the transaction arrives. The next `assign` chooses
/// another item.
#[test]
fn explain_returns_try_again_if_the_item_was_taken_meanwhile() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let bank = place.store().await?.item_bank(&id("vouchers"))?;
        bank.add(&[Item::new("1")?]).await?;
        let mut parts = shop.store.parts();
        let _ = parts.assign(&id("vouchers"), &id("ada")).await?;
        let _ = bank.take(&id("bob"), Hold::Forever).await?;
        let order = shop.order("1", "");
        assert_eq!(shop.send(&parts, vec![order.clone()]).await?, Some(Explained::TryAgain));
        assert_eq!(bank.get(&id("ada")).await?, ClaimState::Unknown);
        let mut parts = shop.store.parts();
        assert_eq!(parts.assign(&id("vouchers"), &id("ada")).await?, Taken::Empty);
        bank.add(&[Item::new("2")?]).await?;
        let Taken::New(held) = parts.assign(&id("vouchers"), &id("ada")).await? else { panic!() };
        assert_eq!(held.item.as_str(), "2");
        assert_eq!(shop.send(&parts, vec![order]).await?, None);
        Ok(())
    })
}

/// A failed condition counts only if the service evaluated all items of the transaction, including the caller's own.
#[test]
fn explain_returns_try_again_after_a_conflict_or_throttle() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let tokens = shop.store.token_store(&id("mails"))?;
        let mut parts = shop.store.parts();
        let _ = parts.create_token(&id("mails"), &id("mail")).await?;
        let order = || vec![shop.order("1", "")];
        let faults = [Fault::Conflict, Fault::Conflict, Fault::Throttle, Fault::Throttle];
        shop.faults.script_for("TransactWriteItems", faults);
        for fault in faults {
            assert_eq!(shop.send(&parts, order()).await?, Some(Explained::TryAgain), "{fault:?}");
        }
        shop.faults.script_for("TransactWriteItems", [Fault::InProgress]);
        assert_eq!(shop.send(&parts, order()).await?, Some(Explained::Unknown));
        assert!(!tokens.exists(&id("mail")).await?);
        tokens.create_tokens(&[id("mail")]).await?;
        assert!(matches!(shop.send(&parts, order()).await?, Some(Explained::Ours { .. })));
        shop.faults.script_for("TransactWriteItems", [Fault::Mixed; 8]);
        for turn in 0..8 {
            assert_eq!(shop.send(&parts, order()).await?, Some(Explained::TryAgain), "{turn}");
        }
        assert_eq!(shop.faults.total(), 13);
        Ok(())
    })
}

/// Returns two items of the caller that DynamoDB refuses. The first has a condition that never holds, and the second
/// does not fit its row.
fn refused(place: &Place) -> [TransactWriteItem; 2] {
    let check = ConditionCheck::builder().table_name(&place.name).key("pk", text("nothing")).key("sk", text("-"));
    let check = check.condition_expression("attribute_exists(pk)").build().unwrap();
    let update = Update::builder().table_name(&place.name).key("pk", text("orders/old")).key("sk", text("-"));
    let update = update.update_expression("ADD voucher :one");
    let one = AttributeValue::N("1".to_owned());
    let update = update.expression_attribute_values(":one", one).build().unwrap();
    let item = TransactWriteItem::builder;
    [item().condition_check(check).build(), item().update(update).build()]
}

/// `explain` first reports a call with another outcome, then a refused item of the caller, and last an item that was
/// taken meanwhile.
#[test]
fn explain_names_a_refused_item_of_the_caller() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let bank = shop.store.item_bank(&id("vouchers"))?;
        assert_eq!(shop.send(&shop.store.parts(), vec![shop.order("old", "")]).await?, None);
        bank.add(&[Item::new("1")?]).await?;
        let mut parts = shop.store.parts();
        let _ = parts.assign(&id("vouchers"), &id("ada")).await?;
        let own = |item: TransactWriteItem| vec![shop.order("new", ""), item];
        for item in refused(place) {
            assert_eq!(shop.send(&parts, own(item)).await?, Some(Explained::Yours { index: 1 }));
        }
        let [check, _] = refused(place);
        let _ = bank.take(&id("bob"), Hold::Forever).await?;
        assert_eq!(shop.send(&parts, own(check.clone())).await?, Some(Explained::Yours { index: 1 }));
        let _ = bank.release(&id("ada")).await?;
        let ended = PartOutcome::Taken(Taken::Ended(End::Released));
        assert_eq!(shop.send(&parts, own(check)).await?, ours(ended));
        Ok(())
    })
}

/// Another program has damaged the rows that refuse the transaction.
#[test]
fn a_row_that_cannot_be_read_is_corrupt() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let counter = shop.store.counter(&id("stock"), Strategy::default())?;
        shop.store.item_bank(&id("vouchers"))?.add(&[Item::new("1")?]).await?;
        let _ = counter.apply(&id("key"), &Change::new(id("first"), 5)).await?;
        let [mut assign, mut apply] = [(); 2].map(|()| shop.store.parts());
        let _ = assign.assign(&id("vouchers"), &id("ada")).await?;
        let _ = shop.store.item_bank(&id("vouchers"))?.release(&id("ada")).await?;
        let change = Change::new(id("op"), 1);
        let _ = apply.apply(&id("stock"), Strategy::default(), &id("key"), &change).await?;
        for (part, attribute) in [(":claims:", "s"), (":key:", "v")] {
            let row = place.rows().await?.into_iter().find(|row| row["pk"].as_s().unwrap().contains(part)).unwrap();
            let request = place.table.raw().put_item().table_name(&place.name).set_item(Some(row));
            request.item(attribute, text("what nobody wrote")).send().await.map_err(failed)?;
        }
        for parts in [assign, apply] {
            let error = shop.send(&parts, vec![]).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        }
        Ok(())
    })
}

#[test]
fn explain_returns_an_error_for_an_invalid_request() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let mut parts = shop.store.parts();
        let _ = parts.create_token(&id("mails"), &id("mail")).await?;
        let twice = vec![shop.order("1", ""), shop.order("1", "")];
        let error = shop.send(&parts, twice).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");

        shop.store.token_store(&id("mails"))?.create_tokens(&[id("mail")]).await?;
        let request = place.table.raw().transact_write_items().set_transact_items(Some(parts.after(vec![])?));
        let error = request.send().await.unwrap_err();
        assert!(matches!(parts.explain(&error)?, Explained::Ours { .. }));
        let mut larger = shop.store.parts();
        for token in ["a", "b"] {
            let _ = larger.create_token(&id("mails"), &id(token)).await?;
        }
        assert_eq!(larger.explain(&error).unwrap_err().kind(), ErrorKind::InvalidInput);

        let elsewhere = DynamoStore::builder().table("sbtest-not-there").from_client(place.table.raw())?;
        let error = elsewhere.parts().create_token(&id("mails"), &id("mail")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotSetUp, "{error}");
        Ok(())
    })
}
