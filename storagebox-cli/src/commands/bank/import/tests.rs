//! The result of an import with crashes, lost replies and changes by other programs in between.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::FutureExt;
use storagebox::bank::ItemState;
use storagebox::layer::Call;
use storagebox::values::{ClaimId, Item};

use super::contents::Place;
use super::*;
use crate::check::Check;
use crate::commands::bank::tests::item;
use crate::commands::faulty::{Instead, loses_replies, memory, stops_after};

const IDS: [&str; 3] = ["ada", "bob", "cyd"];

fn of(store: &Store) -> Bank {
    store.bank("vouchers").unwrap()
}

fn empty() -> Bank {
    of(&memory())
}

fn id(text: &str) -> ClaimId {
    ClaimId::new(text).unwrap()
}

/// Returns a bank that has given three of seven items.
async fn source() -> Bank {
    filled(empty()).await
}

async fn filled(bank: Bank) -> Bank {
    bank.add((0..7).map(|n| format!("SAVE-{n}"))).await.unwrap();
    for id in IDS {
        let _ = bank.assign(id).await.unwrap();
    }
    bank
}

async fn states(bank: &Bank) -> BTreeMap<Item, ItemState> {
    bank.list().all().await.unwrap().into_iter().map(|entry| (entry.item, entry.state)).collect()
}

/// Returns a bank from which another program takes an item before each call of `operation`.
fn taken_from(store: &Store, operation: &'static str) -> Bank {
    let another = of(store);
    let takes = move |call: &Call<'_>| {
        if call.operation() == operation {
            let _ = another.assign(format!("late-{}", fastrand::u64(..))).now_or_never().unwrap()?;
        }
        Ok(None)
    };
    of(&store.clone().layer(Instead(takes)))
}

fn checks(imported: &Imported) -> Vec<Check> {
    imported.compared.mismatches().iter().map(|mismatch| mismatch.check).collect()
}

async fn imported(from: &Bank, into: &Bank) -> Imported {
    import(from, into).await.unwrap_or_else(|failure| panic!("{failure}"))
}

/// Asserts that each id has the same item in both banks, and no item has two ids.
async fn ensure_same(from: &Bank, into: &Bank) {
    assert_eq!(states(into).await, states(from).await);
    for id in IDS {
        let [there, here] = [from.assign(id).await.unwrap(), into.assign(id).await.unwrap()];
        assert_eq!(here.item(), there.item(), "{id}");
    }
}

#[tokio::test]
async fn import_keeps_the_item_of_each_id_and_can_be_repeated() {
    let (from, into) = (source().await, empty());
    let first = imported(&from, &into).await;
    assert_eq!((first.ids, first.free, first.copied.ids, first.copied.free), (3, 4, 3, 4));
    assert_eq!(checks(&first), []);
    ensure_same(&from, &into).await;
    let again = imported(&from, &into).await;
    assert_eq!((again.ids, again.copied), (3, Copied::default()));
    assert_eq!(again.verdict().unwrap(), Exit::Done);
}

/// Kills an import at each of its calls in turn. The next import must complete the work.
#[tokio::test]
async fn an_import_killed_in_any_step_is_finished_by_the_next_run() {
    let mut stops = 0;
    loop {
        let (from, store) = (source().await, memory());
        let into = of(&store);
        let ended = import(&from, &of(&stops_after(&store, stops))).await;
        let half = states(&into).await;
        for (item, state) in &half {
            let given = matches!(state, ItemState::Held(_));
            assert!(!given || states(&from).await.get(item) == Some(state), "{stops}: {half:?}");
        }
        assert_eq!(checks(&imported(&from, &into).await), [], "{stops}");
        ensure_same(&from, &into).await;
        if ended.is_ok() {
            break;
        }
        stops += 1;
    }
    assert!(stops > 10, "only {stops} steps");
}

/// Kills each run of the import later than the run before, until a run completes the import.
#[tokio::test]
async fn an_import_that_is_killed_repeatedly_is_finished() {
    for each in [3, 4, 5, 7] {
        let (from, store) = (source().await, memory());
        let into = of(&store);
        let mut runs = 0;
        loop {
            // Each run may make one call more than the run before, because reading both banks takes more calls as the
            // import advances.
            let stopped = of(&stops_after(&store, each + runs));
            runs += 1;
            if import(&from, &stopped).await.is_ok() {
                break;
            }
        }
        assert!(runs > 3, "{runs} runs");
        ensure_same(&from, &into).await;
    }
}

#[tokio::test(start_paused = true)]
async fn import_with_lost_replies_gives_no_item_twice() {
    let (from, store) = (source().await, memory());
    let into = of(&store);
    assert_eq!(checks(&imported(&from, &of(&loses_replies(&store))).await), []);
    ensure_same(&from, &into).await;
}

#[tokio::test]
async fn import_into_a_bank_with_other_items_is_refused() {
    let from = source().await;
    let foreign = empty();
    foreign.add(["OTHER"]).await.unwrap();
    let other_hands = empty();
    other_hands.add(states(&from).await.into_keys().take(1)).await.unwrap();
    let _ = other_hands.assign("mallory").await.unwrap();
    for into in [foreign, other_hands] {
        let before = states(&into).await;
        let refused = imported(&from, &into).await;
        assert_eq!((checks(&refused), refused.is_refused), (vec![Check::NOTHING_ELSE], true));
        assert_eq!(states(&into).await, before);
        let failure = refused.verdict().unwrap_err();
        assert_eq!(failure.exit(), Exit::StoreFailed);
        assert!(failure.to_string().starts_with("nothing was imported: "), "{failure}");
    }
}

/// Another program takes the first item. The import must stop before it adds a second item.
#[tokio::test]
async fn a_take_by_another_program_stops_the_import_at_once() {
    let (from, store) = (source().await, memory());
    let into = of(&store);
    let failure = import(&from, &taken_from(&store, "take")).await.unwrap_err();
    assert!(matches!(failure, Failure::TakenMeanwhile(_)), "{failure}");
    assert_eq!(failure.exit(), Exit::StoreFailed);
    assert!(!failure.to_string().contains("SAVE"), "{failure}");
    assert_eq!(states(&into).await.len(), 1);
    assert!(imported(&from, &into).await.is_refused);
}

#[tokio::test]
async fn an_id_added_during_an_import_is_imported_by_the_next_run() {
    let (store, into) = (memory(), empty());
    let from = filled(of(&store)).await;
    let told = imported(&taken_from(&store, "counts"), &into).await;
    assert_eq!(checks(&told), [Check::IDS_AS_IMPORTED, Check::NO_CHANGE_THERE]);
    assert_eq!(told.compared.named().len(), 1);
    assert_eq!(told.verdict().unwrap_err().exit(), Exit::StoreFailed);
    let next = imported(&from, &into).await;
    assert_eq!((checks(&next), next.copied.ids), (vec![], 1));
    ensure_same(&from, &into).await;
}

#[tokio::test]
async fn import_leaves_out_timed_spent_and_withdrawn_items() {
    let (from, into) = (source().await, empty());
    let _ = from.take("for-a-while").for_at_most(Duration::from_secs(60)).await.unwrap();
    let _ = from.confirm("cyd").await.unwrap();
    let free = states(&from).await.into_iter().find(|(_, state)| *state == ItemState::Free).unwrap().0;
    from.withdraw([free]).await.unwrap();
    let left_out = imported(&from, &into).await;
    assert_eq!(checks(&left_out), [Check::ALL_CARRIED]);
    assert_eq!((left_out.copied.ids, left_out.copied.free), (2, 2));
    assert_eq!(left_out.compared.mismatches()[0].found, 3);
}

/// The tables of the Python package may list one item as free and with two ids.
#[test]
fn import_gives_an_item_with_two_ids_to_the_smaller_id() {
    for order in [["ada", "bob"], ["bob", "ada"]] {
        let mut there = Contents::default();
        there.enter(item("A"), Place::Free);
        for name in order {
            there.enter(item("A"), Place::Given(id(name)));
        }
        assert_eq!(there.place(&item("A")), Some(&Place::Given(id("ada"))));
        let mut here = Contents::default();
        here.enter(item("A"), Place::Given(id("ada")));
        let compared = Comparison::whole(&there, &here);
        assert_eq!(compared.named(), [id("bob")]);
        assert_eq!(compared.mismatches()[0].found, 2);
    }
}

#[tokio::test]
async fn import_answer_names_ids_but_no_items() {
    let args = ["storagebox", "bank", "import", "b", "--from", "memory:"];
    let crate::cli::Command::Bank(crate::cli::Bank::Import(args)) =
        <crate::cli::Cli as clap::Parser>::parse_from(args).command
    else {
        panic!("no import")
    };
    let other = memory();
    let there = other.bank("b").unwrap();
    there.add(["SAVE-1", "SAVE-2"]).await.unwrap();
    let _ = there.assign("ada").await.unwrap();
    let imported = of_store(&args, &other, &empty()).await.unwrap();
    let answer = report::answer(&args, &imported).json();
    let figures = ["ids_there", "free_there", "ids_imported", "free_imported"].map(|key| &answer[key]);
    assert_eq!(figures, [1, 1, 1, 1]);
    assert_eq!((&answer["audit"], &answer["at_odds"]), (&"ok".into(), &serde_json::json!([])));
    assert!(!answer.to_string().contains("SAVE"), "{answer}");
}

/// An id that was released in the importing bank cannot take an item again. The import must be refused before its first
/// write.
#[tokio::test]
async fn an_import_of_an_id_whose_claim_has_ended_is_refused() {
    let (from, into) = (source().await, empty());
    let _ = into.release("bob").await.unwrap();
    let told = match import(&from, &into).await {
        Ok(refused) => {
            assert!(refused.is_refused);
            refused.verdict().unwrap_err()
        }
        Err(failure) => failure,
    };
    assert!(!matches!(told, Failure::TakenMeanwhile(_)), "nobody took from this bank: {told}");
    assert_eq!(states(&into).await, BTreeMap::new(), "something was written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_imports_give_each_id_only_its_own_item() {
    let from = empty();
    from.add((0..60).map(|n| format!("SAVE-{n}"))).await.unwrap();
    for number in 0..50 {
        let _ = from.assign(format!("id-{number}")).await.unwrap();
    }
    let there = states(&from).await;
    for round in 0..40 {
        let into = empty();
        let runs = [(); 2].map(|()| {
            let (from, into) = (from.clone(), into.clone());
            tokio::spawn(async move { import(&from, &into).await })
        });
        for run in runs {
            let _ended = run.await.unwrap();
        }
        for (item, state) in states(&into).await {
            let is_given = matches!(state, ItemState::Held(_));
            assert!(!is_given || there.get(&item) == Some(&state), "round {round}: {state:?} has another's item");
        }
        let last = imported(&from, &into).await;
        assert!(!last.is_refused, "round {round}: the bank cannot be used any more");
    }
}

#[tokio::test]
async fn an_import_of_an_empty_bank_exits_with_1() {
    let imported = import(&empty(), &empty()).await.unwrap();
    assert_eq!(imported.verdict().unwrap(), Exit::Nothing);
}
