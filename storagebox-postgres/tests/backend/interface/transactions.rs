//! Calls in a transaction of the caller, and in a trigger.

use std::time::Duration;

use storagebox_core::{Backend, ClaimState, Hold, HoldState, ItemBank, LeaseRepo, Result};
use storagebox_testkit::checks::id;

use super::Caller;
use super::banks::bank;
use crate::scene::{blocked, count, patient, until, with_place};
use crate::support::{Place, run};

const HOUR: Duration = Duration::from_secs(3_600);

const ORDERS: &str = "
    CREATE TABLE public.orders (customer text PRIMARY KEY, voucher text NOT NULL);
    GRANT SELECT, INSERT ON public.orders TO {role};";

const TRIGGER: &str = "
    CREATE FUNCTION public.give_voucher() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        SELECT a.item INTO NEW.voucher FROM {schema}.assign('vouchers', NEW.customer) a;
        RETURN NEW;
    END $$;
    CREATE TRIGGER give_voucher BEFORE INSERT ON public.orders FOR EACH ROW EXECUTE FUNCTION public.give_voucher()";

async fn with_orders(place: &Place, more: &str) -> Result<Caller> {
    let sql = format!("{ORDERS}{more}").replace("{schema}", &place.schema).replace("{role}", place.database.role());
    run(place.database.owner(), sql).await?;
    Caller::connect(place).await
}

async fn orders(place: &Place) -> Result<i64> {
    count(&place.database, "SELECT count(*) FROM public.orders").await
}

#[test]
fn a_trigger_gives_each_order_a_voucher_or_refuses_the_order() -> Result<()> {
    with_place(async |place| {
        let (bank, mut caller) = (bank(place, &["item"]).await?, with_orders(place, TRIGGER).await?);
        let order = |customer: &str| format!("INSERT INTO public.orders VALUES ('{customer}')");
        caller.run(&format!("BEGIN; {}; ROLLBACK", order("ada"))).await?;
        assert_eq!((bank.counts().await?.free, orders(place).await?), (1, 0));
        caller.run(&order("bob")).await?;
        assert!(matches!(bank.get(&id("bob")).await?, ClaimState::Held(held) if held.item == id("item")));
        assert!(caller.run(&order("cleo")).await.is_err(), "an order without a voucher");
        assert_eq!((bank.counts().await?.free, orders(place).await?), (0, 1));
        Ok(())
    })
}

#[test]
fn a_claim_and_a_row_of_the_caller_are_committed_together() -> Result<()> {
    with_place(async |place| {
        let (bank, mut caller) = (bank(place, &["item"]).await?, with_orders(place, "").await?);
        for (end, free) in [("ROLLBACK", 1), ("COMMIT", 0)] {
            caller.run("BEGIN").await?;
            assert_eq!(caller.says("outcome, item", "assign('vouchers', 'ada')").await?, "new item");
            assert_eq!(caller.says("outcome, item", "confirm('vouchers', 'ada')").await?, "confirmed item");
            caller.run("INSERT INTO public.orders VALUES ('ada', 'item')").await?;
            assert_eq!(bank.counts().await?.free, 1, "before {end}");
            caller.run(end).await?;
            assert_eq!((bank.counts().await?.free, orders(place).await?), (free, 1 - free as i64), "{end}");
        }
        let held = bank.get(&id("ada")).await?;
        assert!(matches!(&held, ClaimState::Held(held) if held.hold == HoldState::Confirmed), "{held:?}");
        Ok(())
    })
}

/// J-1: the rollback of a savepoint undoes a claim that was made after the savepoint.
#[test]
fn a_savepoint_that_is_rolled_back_gives_the_item_back() -> Result<()> {
    with_place(async |place| {
        let (bank, mut caller) = (bank(place, &["item"]).await?, Caller::connect(place).await?);
        caller.run("BEGIN; SAVEPOINT before").await?;
        assert_eq!(caller.outcome("assign('vouchers', 'ada')").await?, "new");
        assert_eq!(caller.outcome("assign('vouchers', 'ada')").await?, "again");
        caller.run("ROLLBACK TO before").await?;
        assert_eq!(caller.outcome("assign('vouchers', 'bob')").await?, "new");
        caller.run("COMMIT").await?;
        assert_eq!(bank.get(&id("ada")).await?, ClaimState::Unknown);
        Ok(())
    })
}

/// Two transactions take an item for the same claim. The second transaction waits, and then gets the same item.
#[test]
fn second_assign_waits_for_the_first_transaction_of_its_claim() -> Result<()> {
    for (end, expected) in [("COMMIT", "again"), ("ROLLBACK", "new")] {
        with_place(async |place| {
            let bank = bank(place, &["item"]).await?;
            let (mut first, mut second) = (Caller::connect(place).await?, Caller::connect(place).await?);
            first.run("BEGIN").await?;
            assert_eq!(first.outcome("assign('vouchers', 'ada')").await?, "new");
            bank.add(&[id("other")]).await?;
            let end_first = async {
                until("a wait", async || Ok(blocked(&place.database, &place.schema).await? == 1)).await?;
                first.run(end).await
            };
            let (taken, ended) = tokio::join!(second.in_transaction("assign('vouchers', 'ada')"), end_first);
            ended?;
            assert_eq!(taken?, expected, "{end}");
            let held = bank.take(&id("ada"), Hold::Forever).await?;
            assert!(held.item().is_some(), "{held:?}");
            assert_eq!(bank.counts().await?.free, 1);
            Ok(())
        })?;
    }
    Ok(())
}

/// J-4: the caller's own changes in the transaction are rolled back.
#[test]
fn completing_an_ended_lease_rolls_the_transaction_back() -> Result<()> {
    with_place(async |place| {
        let (bank, mut caller) = (bank(place, &["item"]).await?, with_orders(place, "").await?);
        let leases = patient(place)?.lease_repo(&id("requests"))?;
        let begun = caller.says("fence", "begin_lease('requests', 'id', 'op', '1 second')").await?;
        place.advance(HOUR).await?;
        let _ = leases.begin(&id("id"), &id("other"), HOUR, None).await?;

        caller.run("BEGIN; INSERT INTO public.orders VALUES ('ada', 'item')").await?;
        assert_eq!(caller.refusal(&format!("complete_lease('requests', 'id', 'op', {begun}, '')")).await, "SB004");
        caller.run("COMMIT").await?;
        assert_eq!((bank.counts().await?.free, orders(place).await?), (1, 0));
        Ok(())
    })
}
