//! What the audit finds in banks that break their promises, and what it takes for the work of others.

use std::sync::Arc;

use storagebox::bank::Hold;
use storagebox::{
    ErrorKind, MemoryStore,
    parts::{Backend, ItemBank},
};

use super::*;
use crate::commands::bank::tests::{args, item};
use crate::commands::faulty::{Fault, FaultyBank};

/// Three free, two held (one of them for a while), one spent, one spent by a retired claim, one withdrawn.
async fn bank() -> Arc<dyn ItemBank> {
    let bank = MemoryStore::new().item_bank(&"vouchers".parse().unwrap()).unwrap();
    bank.add(&(0..8).map(|n| item(&format!("SAVE-{n}"))).collect::<Vec<_>>()).await.unwrap();
    for id in ["ada", "bob", "cyd", "dan"] {
        let _ = bank.take(&id.parse().unwrap(), Hold::Forever).await.unwrap();
    }
    for id in ["cyd", "dan"] {
        let _ = bank.confirm(&ClaimId::new(id).unwrap()).await.unwrap();
    }
    let _ = bank.retire(&ClaimId::new("dan").unwrap()).await.unwrap();
    let free = free_item(&*bank).await;
    bank.withdraw(&[free]).await.unwrap();
    bank
}

async fn free_item(bank: &dyn ItemBank) -> storagebox::values::Item {
    let page = bank.list(None, PAGE).await.unwrap();
    page.entries.into_iter().find(|entry| entry.state == ItemState::Free).unwrap().item
}

async fn audited(fault: Fault) -> Audit {
    let audited = audit(&FaultyBank::new(bank().await, fault)).await;
    audited.unwrap_or_else(|failure| panic!("{failure}"))
}

async fn found(fault: Fault) -> Vec<(Check, i128)> {
    let mismatches = audited(fault).await.mismatches();
    mismatches.into_iter().map(|mismatch| (mismatch.check, mismatch.found)).collect()
}

#[tokio::test]
async fn a_sound_bank_passes() {
    let audit = audited(Fault::None).await;
    assert_eq!(audit.mismatches(), []);
    assert_eq!(audit.listed, Counts { free: 3, held: 2, spent: 2, withdrawn: 1 });
    assert_eq!((audit.claims, audit.changed), (3, 0));
    assert!(audit.is_at_rest());
}

#[tokio::test]
async fn an_empty_bank_passes() {
    let empty = MemoryStore::new().item_bank(&"vouchers".parse().unwrap()).unwrap();
    assert_eq!(audit(&*empty).await.unwrap().mismatches(), []);
}

#[tokio::test(start_paused = true)]
async fn short_and_empty_pages_and_lost_replies_are_no_mismatch() {
    for fault in [Fault::ListsInDribs, Fault::LosesReplies] {
        let audit = audited(fault).await;
        assert_eq!(audit.mismatches(), [], "{fault:?}");
        assert_eq!(audit.listed.total(), 8, "{fault:?}");
    }
}

#[tokio::test]
async fn an_item_that_is_listed_twice_is_found() {
    let found = found(Fault::ListsOneTwice).await;
    assert!(found.contains(&(Check::ListedOnce, 1)), "{found:?}");
}

#[tokio::test]
async fn an_item_that_is_counted_and_not_listed_is_found() {
    let audit = audited(Fault::ListsOneLess).await;
    assert_eq!(audit.mismatches().len(), 1, "{audit:?}");
    assert_eq!(found(Fault::CountsOneMore).await, [(Check::WithdrawnAsCounted, 1)]);
}

#[tokio::test]
async fn an_item_without_a_state_is_found() {
    let found = found(Fault::ListsWithoutState).await;
    assert!(found.contains(&(Check::ListedInAState, 1)), "{found:?}");
}

#[tokio::test]
async fn a_claim_that_does_not_show_its_item_is_found_and_named() {
    for fault in [Fault::ShowsAnother, Fault::ForgetsClaims] {
        let audit = audited(fault).await;
        assert_eq!(audit.at_odds, 3, "{fault:?}");
        let mut named: Vec<_> = audit.named.iter().map(ClaimId::as_str).collect();
        named.sort_unstable();
        assert_eq!(named, ["ada", "bob", "cyd"], "{fault:?}");
        assert_eq!(found(fault).await, [(Check::ClaimShowsItem, 3)], "{fault:?}");
    }
}

#[tokio::test]
async fn a_spent_item_whose_claim_may_still_release_it_is_found() {
    let audit = audited(Fault::ForgetsConfirming).await;
    assert_eq!(audit.named, [ClaimId::new("cyd").unwrap()]);
}

/// Each held item comes free between the listing and the look at its claim.
#[tokio::test]
async fn the_work_of_others_is_no_mismatch() {
    let audit = audited(Fault::IsAtWork).await;
    assert_eq!((audit.changed, audit.at_odds), (2, 0));
    assert!(!audit.is_at_rest());
    assert_eq!(audit.mismatches(), []);
}

#[tokio::test]
async fn only_the_first_claims_are_named() {
    let bank = MemoryStore::new().item_bank(&"vouchers".parse().unwrap()).unwrap();
    bank.add(&(0..12).map(|n| item(&format!("SAVE-{n}"))).collect::<Vec<_>>()).await.unwrap();
    for n in 0..12 {
        let _ = bank.take(&format!("p{n}").parse().unwrap(), Hold::Forever).await.unwrap();
    }
    let audit = audit(&FaultyBank::new(bank, Fault::ForgetsClaims)).await.unwrap();
    assert_eq!((audit.at_odds, audit.named.len()), (12, NAMED));
}

#[tokio::test]
async fn a_failed_audit_is_shown_and_names_the_check_but_no_item() {
    let mut to = Vec::new();
    let lying = FaultyBank::new(bank().await, Fault::ShowsAnother);
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
async fn a_store_that_fails_is_no_audit() {
    let failure = audit(&FaultyBank::new(bank().await, Fault::Denies)).await.unwrap_err();
    assert!(matches!(failure, Failure::Store { ref error, .. } if error.kind() == ErrorKind::Denied));
}
