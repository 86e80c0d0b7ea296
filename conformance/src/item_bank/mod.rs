//! The item bank: IB-1 to IB-10.

mod ambiguous;
mod calls;
mod cancel;
mod clock;
mod concurrent;
mod crash;
mod edge;
mod ends;
mod keeper;
mod model;
mod network;
mod reuse;
mod sequential;
mod size;
mod whole;

use storagebox_core::{ClaimId, Hold, Item, ItemBank, Taken};

use crate::case::cases;
use crate::failure::{Failure, ensure_matches};

cases! { ItemBank:
    "IB-1" Concurrent concurrent: racing_takers_get_different_items, one_item_left_has_one_winner;
    "IB-1" Concurrent @Clock ends: a_hold_that_ends_under_waiting_calls_has_one_holder;
    "IB-1" Sequential @Clock ends: a_clock_that_is_set_back_gives_no_item_twice;
    "IB-1" Concurrent @Clock clock:
        a_hold_that_is_extended_while_a_call_reads_the_clock_is_seen,
        a_call_that_was_held_after_it_read_the_clock_gives_no_item_twice;
    "IB-2" Sequential model: random_calls_match_the_model;
    "IB-2" Sequential sequential: restoring_frees_nothing_in_use;
    "IB-2" Concurrent concurrent: every_item_is_somewhere_at_every_moment;
    "IB-2" Concurrent whole:
        a_confirmed_claim_and_its_spent_item_are_seen_together, a_released_claim_and_its_free_item_are_seen_together;
    "IB-2" Ambiguous ambiguous: random_faults_lose_and_double_nothing;
    "IB-2" Cancel cancel: dropping_any_call_leaves_the_bank_whole;
    "IB-2" Network network: a_cut_connection_loses_and_doubles_nothing;
    "IB-2" Crash crash: what_was_acknowledged_survives_a_restart, calls_under_way_survive_a_kill;
    "IB-3" Sequential sequential:
        same_claim_same_item, same_claim_same_item_from_an_empty_bank, another_client_knows_the_claim,
        taking_again_does_not_change_the_hold;
    "IB-3" Concurrent concurrent: racing_calls_of_one_claim_share_one_item;
    "IB-3" Ambiguous ambiguous: a_lost_reply_is_found_again;
    "IB-4" Sequential sequential: empty_is_true_and_ends, a_lapsed_hold_is_not_empty;
    "IB-4" Edge edge: free_items_among_many_others_are_found;
    "IB-4" Concurrent concurrent: plenty_of_items_is_never_empty;
    "IB-5" Sequential sequential: adding_again_changes_nothing, a_taken_item_added_again_stays_taken;
    "IB-5" Sequential keeper:
        a_withdrawn_item_added_again_stays_withdrawn, an_item_whose_hold_has_lapsed_is_not_added_again;
    "IB-5" Edge edge: duplicates_in_one_call_count_once;
    "IB-5" Concurrent concurrent: racing_loads_add_each_item_once;
    "IB-5" Ambiguous ambiguous: a_load_that_lands_twice_adds_once;
    "IB-6" Sequential sequential:
        a_hold_ends_by_itself, confirm_after_the_end_is_expired, confirm_makes_it_permanent, extend_never_shortens,
        expired_though_not_retaken;
    "IB-6" Sequential reuse:
        a_claim_whose_hold_is_long_over_holds_one_item, a_hold_that_upkeep_ended_is_expired;
    "IB-6" Sequential ends: a_hold_ends_at_its_time_and_not_before, an_extension_counts_from_now;
    "IB-6" Concurrent @Clock ends: a_hold_that_is_extended_in_time_is_never_seen_ended;
    "IB-6" Sequential keeper: a_lapsed_hold_whose_item_is_withdrawn_is_expired;
    "IB-7" Sequential reuse: an_item_that_was_taken_again_stays_with_its_holder;
    "IB-7" Sequential @Clock ends: a_release_is_remembered_to_the_end_of_the_retention;
    "IB-7" Sequential @Answers reuse: a_claim_that_was_retired_and_taken_anew_outlives_upkeep;
    "IB-7" Concurrent reuse: claims_taken_anew_beside_upkeep_hold;
    "IB-7" Sequential sequential:
        release_frees_and_ends, release_of_another_claim_frees_nothing, release_after_confirm_changes_nothing,
        a_released_claim_is_remembered_for_the_retention;
    "IB-7" Sequential @Answers sequential: retire_lets_the_id_be_used_anew;
    "IB-7" Sequential @Answers crate::decisions: a_claim_is_answered_by_its_table;
    "IB-7" Ambiguous ambiguous: a_take_that_lands_after_its_release_gets_nothing;
    "IB-8" Edge edge: batches_of_any_length, a_bank_is_drained_to_the_last_item;
    "IB-8" Edge size: a_bank_of_26_000_items;
    "IB-9" Concurrent concurrent: all_takers_are_served_while_items_last;
    "IB-10" Sequential sequential: counts_are_exact_at_rest, list_shows_each_item_once, withdrawn_items_are_not_taken;
    "IB-10" Sequential keeper: a_listing_shows_each_state;
}

async fn take_new(bank: &(impl ItemBank + ?Sized), claim: &ClaimId, hold: Hold) -> Result<Item, Failure> {
    let taken = bank.take(claim, hold).await?;
    Ok(ensure_matches!(taken, Taken::New(held) => held.item, "{claim:?} takes from a bank with free items"))
}
