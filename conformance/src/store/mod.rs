//! The store as a whole: S-1 to S-5.

mod boxes;
mod ends;
mod everything;
mod options;
mod promises;
mod setup;
mod upkeep;

use crate::case::cases;

cases! { Store:
    "S-01" Sequential setup::setting_up_again_changes_nothing;
    "S-01" Sequential setup::a_store_that_is_set_up_answers;
    "S-01" Concurrent setup::many_set_up_at_once;
    "S-01" Cancel setup::dropping_a_setup_leaves_the_store_whole;
    "S-02" Sequential upkeep::upkeep_keeps_what_a_promise_needs;
    "S-02" Sequential upkeep::upkeep_is_bounded;
    "S-02" Sequential upkeep::upkeep_after_a_while_keeps_what_lives;
    "S-02" Sequential ends::closing_loses_nothing;
    "S-02" Concurrent upkeep::upkeep_beside_callers_disturbs_nobody;
    "S-02" Cancel upkeep::dropping_upkeep_loses_nothing;
    "S-02" Crash ends::every_box_survives_a_restart;
    "S-03" Sequential boxes::boxes_of_different_kinds_share_nothing;
    "S-03" Sequential boxes::boxes_of_different_names_share_nothing;
    "S-03" Sequential boxes::handles_of_one_name_share_one_box;
    "S-03" Sequential boxes::records_and_leases_of_one_name_are_one;
    "S-03" Edge boxes::names_alike_are_different_boxes;
    "S-03" Edge boxes::a_listing_shows_its_own_box_alone;
    "S-03" Concurrent boxes::racing_first_calls_share_one_box;
    "S-04" Sequential options::a_counter_is_opened_as_it_was_created;
    "S-04" Sequential options::an_ordered_store_is_opened_as_it_was_created;
    "S-04" Sequential options::a_refused_opening_changes_nothing;
    "S-04" Concurrent options::one_of_racing_strategies_creates_the_box;
    "S-05" Sequential promises::the_promises_are_said;
    "S-05" Sequential promises::a_strategy_works_or_names_a_better_one;
    "S-05" Sequential promises::what_every_backend_has_is_there;
}
