//! Calls within a transaction of the caller: J-1 to J-5.

mod beside;
mod commits;
mod others;
mod receipts;
mod refusals;

use storagebox_core::{ClaimId, InTransaction};

use crate::case::cases;
use crate::failure::Failure;
use crate::harness::CallerTransaction;
use crate::world::World;

cases! { Transactions:
    "J-1" Sequential [..] commits:
        each_call_takes_effect_when_it_is_committed, each_call_that_is_rolled_back_never_was,
        calls_of_all_parts_are_committed_together, a_namespace_that_was_rolled_back_is_opened_again,
        a_transaction_sees_its_own_calls, nobody_else_sees_it_before_the_commit;
    "J-1" Concurrent [ItemBank] others:
        the_same_claim_waits_for_the_commit, the_same_claim_takes_after_a_rollback,
        the_last_item_is_not_gone_before_the_commit, what_is_rolled_back_can_be_taken,
        the_same_claim_in_two_transactions_is_one, many_transactions_take_different_items;
    "J-1" Concurrent [ItemBank, Counter] others: transactions_in_one_order_all_commit;
    "IB-9" Concurrent [ItemBank, Counter] others: a_take_does_not_wait_for_a_transaction_that_took_another_item;
    "J-2" Sequential [ItemBank] refusals: one_call_at_a_time, a_large_batch_is_refused;
    "J-2" Sequential [Ordered] refusals: a_purge_is_refused;
    "J-2" Cancel [ItemBank] refusals: a_call_that_is_dropped_is_never_half_committed;
    "J-2" Cancel [Counter] refusals: a_change_that_is_dropped_is_never_half_committed;
    "J-3" Sequential [..] refusals: a_connection_without_a_transaction_is_refused;
    "J-4" Sequential [Dedup] refusals: a_lease_that_is_over_cannot_be_completed_and_committed;
    "J-5" Sequential [Dedup] receipts:
        a_receipt_of_what_was_committed_says_so, a_receipt_of_what_was_rolled_back_says_so, an_answer_stays_the_same;
    "J-5" Concurrent [Dedup] receipts: an_answer_waits_for_the_end_of_the_transaction;
}

/// Begins a transaction of a caller, which the first client can join.
async fn begun(world: &World) -> Result<Box<dyn CallerTransaction>, Failure> {
    Ok(world.sandbox().begin().await?)
}

/// Joins the first client to the transaction.
fn within<'t>(world: &World, transaction: &'t mut dyn CallerTransaction) -> Result<InTransaction<'t>, Failure> {
    Ok(world.store().within(transaction.connection())?)
}

fn claim(number: usize) -> Result<ClaimId, Failure> {
    Ok(ClaimId::new(format!("claim-{number}"))?)
}
