//! The cost of calls: the measured table of the README, and upper bounds.

use storagebox_core::{Backend, Change, ClaimId, Counter, Hold, Item, ItemBank, Result, Strategy, Taken};

use crate::metered::{Cost, Metered, cost};
use crate::readme::{compared, read};
use crate::scene::with_place;
use crate::support::Place;
use crate::workload::{BANK, COUNTERS, ENTITIES, LEASES, ORDERED, RECORDS, TOKENS, builder, items};

const BEGIN: &str = "<!-- cost:begin -->\n";
const END: &str = "<!-- cost:end -->\n";

fn table(metered: &Metered) -> String {
    let mut table = "| part | call | requests | read units | write units |\n|---|---|---|---|---|\n".to_owned();
    let mut last = "";
    for noted in &metered.noted {
        let part = if noted.part == last { "" } else { noted.part };
        let Cost { requests, read, write } = noted.cost;
        table.push_str(&format!("| {part} | {} | {requests} | {read} | {write} |\n", noted.call));
        last = noted.part;
    }
    table
}

/// If calls send other requests than before, `STORAGEBOX_WRITE_COSTS=1 cargo test -p storagebox-dynamo --test backend
/// cost` writes their new costs into the README.
#[test]
fn the_cost_of_calls_matches_the_readme_and_stays_in_bounds() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place, builder(place)).await?;
        metered.every_call(place).await?;
        compared(BEGIN, END, &table(&metered));
        // Upper bounds that the table must keep.
        for (part, call) in [
            (BANK, "`take`, new, for ever"),
            (BANK, "`take`, new, for a while"),
            (BANK, "`take`, again"),
            (BANK, "`take`, again, where repeats are common"),
            (BANK, "`confirm`, held for ever"),
            (BANK, "`get`"),
            (BANK, "`release`, taken by this process"),
            (BANK, "`release`, unknown"),
            (RECORDS, "`record`, new"),
            (RECORDS, "`get`"),
            (RECORDS, "`replace`"),
            (RECORDS, "`forget`"),
            (LEASES, "`begin`"),
            (LEASES, "`extend`"),
            (LEASES, "`complete`"),
            (LEASES, "`abort`"),
            (TOKENS, "`consume`"),
            (TOKENS, "`exists`"),
            (ENTITIES, "`open`, joined"),
            (ENTITIES, "`commit`, split"),
            (ENTITIES, "`commit`, joined, a new token"),
            (ENTITIES, "`register`"),
            (ENTITIES, "`choose`"),
            (ENTITIES, "`remove`"),
            (COUNTERS, "`apply`, `Marker`"),
            (ORDERED, "`put`"),
            (ORDERED, "`get`"),
            (ORDERED, "`delete`"),
            (ORDERED, "`reset`"),
        ] {
            assert_eq!(metered.cost_of(part, call).requests, 1, "{part}: {call}");
        }
        for call in ["`take`, new, for ever", "`take`, new, for a while"] {
            let cost = metered.cost_of(BANK, call);
            assert!(cost.write <= 6.0, "{call}: {cost:?}");
        }
        let again = metered.cost_of(BANK, "`take`, again, where repeats are common");
        assert_eq!(again, Cost { requests: 1, read: 1.0, write: 0.0 });
        let added = metered.cost_of(BANK, "`add`, an item");
        assert!(added.requests == 1 && (1.0..=2.0).contains(&added.write), "{added:?}");
        Ok(())
    })
}

/// The total includes the requests that read candidates, whether a take waits for them or not.
#[test]
fn a_thousand_takes_send_little_more_than_a_thousand_requests() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place, place.builder()).await?;
        let bank = metered.store.item_bank(&"namespace".parse()?)?;
        let many: Vec<_> = (0..4_000).map(|number| Item::new(format!("code-{number}"))).collect::<Result<_>>()?;
        bank.add(&many).await?;
        metered.aside();
        for number in 0..1_000 {
            let taken = bank.take(&ClaimId::new(format!("id-{number}"))?, Hold::Forever).await?;
            assert!(matches!(taken, Taken::New(_)), "{taken:?}");
        }
        let total: Cost = metered.aside().iter().map(cost).sum();
        assert!(total.requests <= 1_050, "{total:?}");
        assert!(total.write <= 6_000.0, "{total:?}");
        Ok(())
    })
}

/// The store has the default setting, `ReadFirst::Auto`.
#[test]
fn the_claim_is_read_first_if_many_takes_are_repeated() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place, place.builder()).await?;
        let (bank, claim) = (metered.store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
        bank.add(&items(1)?).await?;
        for _ in 0..20 {
            let _ = bank.take(&claim, Hold::Forever).await?;
        }
        let _ = metered.note(BANK, "again", bank.take(&claim, Hold::Forever)).await?;
        assert_eq!(metered.cost_of(BANK, "again"), Cost { requests: 1, read: 1.0, write: 0.0 });
        Ok(())
    })
}

#[test]
fn the_first_call_of_a_namespace_creates_it() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place, place.builder()).await?;
        let (bank, claim) = (metered.store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
        for (call, requests) in [("first", 2), ("second", 1)] {
            metered.note(BANK, call, bank.get(&claim)).await?;
            assert_eq!(metered.cost_of(BANK, call).requests, requests, "{call}");
        }
        Ok(())
    })
}

#[test]
fn the_claims_of_a_page_are_read_in_batches_of_a_hundred() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place, place.builder().shards(1).fetch_limit(1_000)).await?;
        let bank = metered.store.item_bank(&"namespace".parse()?)?;
        bank.add(&items(250)?).await?;
        for number in 0..250 {
            let _ = bank.take(&ClaimId::new(format!("id-{number}"))?, Hold::Forever).await?;
        }
        metered.aside();
        assert_eq!(bank.list(None, 1_000).await?.entries.len(), 250);
        let sent: Vec<_> = metered.aside().into_iter().map(|exchange| exchange.operation).collect();
        assert_eq!(sent, ["Query", "BatchGetItem", "BatchGetItem", "BatchGetItem"]);
        Ok(())
    })
}

/// The row of a `TokenSet` grows with each operation, and each change writes the whole row.
#[test]
fn the_readme_has_the_set_size_from_which_a_marker_is_cheaper() -> Result<()> {
    let readme = read("README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    with_place(async |place| {
        let held = cheaper_than_a_marker(place).await?;
        let words = format!("from {held} operations on it costs more than `Marker`'s four");
        assert!(readme.contains(&words), "{words}");
        Ok(())
    })
}

/// Returns the smallest number of operations in a `TokenSet` at which one more operation costs more than with `Marker`.
async fn cheaper_than_a_marker(place: &Place) -> Result<usize> {
    const MARKER: f64 = 4.0;
    let mut metered = Metered::of(place, place.builder()).await?;
    let set = metered.store.counter(&"set".parse()?, Strategy::TokenSet { max: 1_000 })?;
    for held in 0.. {
        let call = format!("{held} held");
        // The value has the largest number of digits from the first operation on.
        let delta = if held == 0 { i64::MAX / 2 } else { 1 };
        let _ = metered
            .note(COUNTERS, &*call, set.apply(&"key".parse()?, &Change::new(format!("op-{held}").parse()?, delta)))
            .await?;
        if metered.cost_of(COUNTERS, &call).write > MARKER {
            return Ok(held);
        }
    }
    unreachable!("a row of any size costs the same")
}
