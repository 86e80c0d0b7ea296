//! What the audit finds in banks that break their promises, and in banks that other programs change.

use futures_util::FutureExt;
use storagebox::bank::{ClaimState, HoldState};
use storagebox::layer::{Call, Request, Response};
use storagebox::values::Item;
use storagebox::{Cursor, Error, ErrorKind, Page, Store};

use super::*;
use crate::commands::bank::tests::args;
use crate::commands::faulty::{After, Instead, loses_replies, memory, tampers};

/// Returns a store with eight items: three free, two held, two spent (one by a retired claim), and one withdrawn.
async fn store() -> Store {
    let store = memory();
    let bank = store.bank("vouchers").unwrap();
    bank.add((0..8).map(|n| format!("SAVE-{n}"))).await.unwrap();
    for id in ["ada", "bob", "cyd", "dan"] {
        let _ = bank.assign(id).await.unwrap();
    }
    for id in ["cyd", "dan"] {
        let _ = bank.confirm(id).await.unwrap();
    }
    let _ = bank.retire("dan").await.unwrap();
    let listed = bank.list().all().await.unwrap();
    let free = listed.into_iter().find(|entry| entry.state == ItemState::Free).unwrap();
    bank.withdraw([free.item]).await.unwrap();
    store
}

async fn audited(store: &Store) -> Audit {
    audit(&store.bank("vouchers").unwrap()).await.unwrap()
}

async fn found(store: &Store) -> Vec<(Check, i128)> {
    let mismatches = audited(store).await.mismatches();
    mismatches.into_iter().map(|mismatch| (mismatch.check, mismatch.found)).collect()
}

/// Wraps the store so that a listing begins with an empty page and then has one entry per page.
fn lists_in_dribs(store: &Store) -> Store {
    let bank = store.bank("vouchers").unwrap();
    let one = move |after: Option<&Cursor>| bank.list().page(after, 1).now_or_never().unwrap();
    store.clone().layer(Instead(move |call: &Call<'_>| {
        let Request::ListItems { cursor, .. } = call.request else { return Ok(None) };
        let page = match cursor {
            None => Page { entries: vec![], next: Some(Cursor::new("start")) },
            Some(start) if start.as_str() == "start" => one(None)?,
            after => one(after)?,
        };
        Ok(Some(Response::ListItems(page)))
    }))
}

fn shows_another(store: &Store) -> Store {
    tampers!(store, GetClaim, |state: &mut ClaimState| {
        if let ClaimState::Held(held) = state {
            held.item = Item::new("ANOTHER").unwrap();
        }
    })
}

/// Wraps the store so that its bank answers `ClaimState::Unknown` for every claim.
fn forgets_claims(store: &Store) -> Store {
    tampers!(store, GetClaim, |state: &mut ClaimState| *state = ClaimState::Unknown)
}

#[tokio::test]
async fn audit_of_a_sound_bank_passes() {
    let audit = audited(&store().await).await;
    assert_eq!(audit.mismatches(), []);
    assert_eq!(audit.listed, Counts { free: 3, held: 2, spent: 2, withdrawn: 1 });
    assert_eq!((audit.claims, audit.changed), (3, 0));
    assert!(audit.is_at_rest());
}

#[tokio::test]
async fn audit_of_an_empty_bank_passes() {
    assert_eq!(audited(&memory()).await.mismatches(), []);
}

#[tokio::test(start_paused = true)]
async fn audit_with_empty_pages_and_lost_replies_passes() {
    for fault in [lists_in_dribs, loses_replies] {
        let audit = audited(&fault(&store().await)).await;
        assert_eq!(audit.mismatches(), []);
        assert_eq!(audit.listed.total(), 8);
    }
}

#[tokio::test]
async fn audit_finds_an_item_that_is_listed_twice() {
    // The last entry of a page is also listed in place of the first one.
    let twice = |page: &mut Page<ListedItem>| page.entries[0] = page.entries[page.entries.len() - 1].clone();
    let found = found(&tampers!(store().await, ListItems, twice)).await;
    assert!(found.contains(&(Check::LISTED_ONCE, 1)), "{found:?}");
}

#[tokio::test]
async fn audit_finds_an_item_that_is_counted_but_not_listed() {
    let store = store().await;
    let audit = audited(&tampers!(store, ListItems, |page: &mut Page<ListedItem>| drop(page.entries.pop()))).await;
    assert_eq!(audit.mismatches().len(), 1, "{audit:?}");
    let counts_one_more = tampers!(store, CountItems, |counts: &mut Counts| counts.withdrawn += 1);
    assert_eq!(found(&counts_one_more).await, [(Check::WITHDRAWN_AS_COUNTED, 1)]);
}

#[tokio::test]
async fn audit_finds_an_item_without_a_state() {
    let stateless = |page: &mut Page<ListedItem>| page.entries[0].state = ItemState::Unknown;
    let found = found(&tampers!(store().await, ListItems, stateless)).await;
    assert!(found.contains(&(Check::LISTED_IN_A_STATE, 1)), "{found:?}");
}

#[tokio::test]
async fn audit_names_a_claim_that_does_not_show_its_item() {
    for fault in [shows_another, forgets_claims] {
        let store = fault(&store().await);
        let audit = audited(&store).await;
        assert_eq!(audit.at_odds, 3);
        let mut named: Vec<_> = audit.named.iter().map(ClaimId::as_str).collect();
        named.sort_unstable();
        assert_eq!(named, ["ada", "bob", "cyd"]);
        assert_eq!(found(&store).await, [(Check::CLAIM_SHOWS_ITEM, 3)]);
    }
}

#[tokio::test]
async fn audit_finds_a_spent_item_with_an_unconfirmed_claim() {
    let audit = audited(&tampers!(store().await, GetClaim, |state: &mut ClaimState| {
        if let ClaimState::Held(held) = state {
            held.hold = HoldState::Forever;
        }
    }))
    .await;
    assert_eq!(audit.named, [ClaimId::new("cyd").unwrap()]);
}

/// Each held item becomes free between the listing and the reading of its claim.
#[tokio::test]
async fn a_change_by_another_program_does_not_fail_the_audit() {
    let store = store().await;
    let another = store.bank("vouchers").unwrap();
    let releases = store.clone().layer(Instead(move |call: &Call<'_>| {
        if let Request::GetClaim { claim, .. } = call.request {
            let _ = another.release(claim.clone()).now_or_never().unwrap()?;
        }
        Ok(None)
    }));
    let audit = audited(&releases).await;
    assert_eq!((audit.changed, audit.at_odds), (2, 0));
    assert!(!audit.is_at_rest());
    assert_eq!(audit.mismatches(), []);
}

#[tokio::test]
async fn audit_names_only_the_first_inconsistent_claims() {
    let store = memory();
    let bank = store.bank("vouchers").unwrap();
    bank.add((0..12).map(|n| format!("SAVE-{n}"))).await.unwrap();
    for n in 0..12 {
        let _ = bank.assign(format!("p{n}")).await.unwrap();
    }
    let audit = audited(&forgets_claims(&store)).await;
    assert_eq!((audit.at_odds, audit.named.len()), (12, NAMED));
}

#[tokio::test]
async fn a_failed_audit_is_shown_and_names_the_check_but_no_item() {
    let mut to = Vec::new();
    let lying = shows_another(&store().await).bank("vouchers").unwrap();
    let failure = run(&args("vouchers"), &lying, true, &mut to).await.unwrap_err();
    assert_eq!(failure.exit(), Exit::StoreFailed);
    let message = failure.to_string();
    assert!(message.contains("items that their claim does not show: expected 0, found 3"), "{message}");
    assert!(!message.contains("SAVE") && !message.contains("ANOTHER"), "{message}");
    let shown: serde_json::Value = serde_json::from_slice(&to).unwrap();
    assert_eq!(shown["audit"], "FAILED");
    assert_eq!(shown["at_odds"].as_array().unwrap().len(), 3);
    assert_eq!(shown["mismatches"][0]["found"], 3);
}

#[tokio::test]
async fn an_audit_of_a_failing_store_returns_its_error() {
    let denies = After(|_: &Call<'_>, _| Err(Error::new(ErrorKind::Denied, "no right to it")));
    let error = audit(&store().await.layer(denies).bank("vouchers").unwrap()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
}
