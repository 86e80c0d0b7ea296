//! The store as a whole: S-1 to S-5.

mod apart;
mod ends;
mod everything;
mod namespaces;
mod options;
mod promises;
mod setup;
mod upkeep;

use crate::case::cases;

cases! { Store:
    "S-1" Sequential setup: a_store_that_is_set_up_answers;
    "S-1" Sequential [ItemBank] setup: setting_up_again_changes_nothing;
    "S-1" Sequential [Dedup] setup: setting_up_again_repeats_no_number;
    "S-1" Concurrent [ItemBank] setup: many_set_up_at_once;
    "S-1" Cancel [ItemBank] setup: dropping_a_setup_leaves_the_store_whole;
    "S-2" Sequential [..] upkeep: upkeep_keeps_what_a_promise_needs, upkeep_after_a_while_keeps_what_lives;
    "S-2" Sequential [ItemBank, Dedup, Tokens, Counter] upkeep: upkeep_is_bounded, upkeep_says_whether_there_is_more;
    "S-2" Sequential [..] ends: closing_loses_nothing;
    "S-2" Concurrent [ItemBank, Dedup, Tokens] upkeep: upkeep_beside_callers_disturbs_nobody;
    "S-2" Cancel [..] upkeep: dropping_upkeep_loses_nothing;
    "S-2" Crash [..] ends: every_namespace_survives_a_restart;
    "S-3" Sequential [..] namespaces:
        namespaces_of_different_kinds_share_nothing, namespaces_of_different_names_share_nothing,
        handles_of_one_name_share_one_namespace;
    "S-3" Sequential [..] apart: what_ends_in_one_namespace_lives_in_another;
    "S-3" Sequential [Dedup] namespaces: records_and_leases_of_one_name_are_one;
    "S-3" Edge [..] namespaces: names_alike_are_different_namespaces;
    "S-3" Edge [ItemBank, Dedup, Ordered] namespaces: a_listing_shows_its_own_namespace_alone;
    "S-3" Concurrent [..] namespaces: racing_first_calls_share_one_namespace;
    "S-3" Sequential [Entities] namespaces: entities_of_different_names_share_nothing;
    "S-4" Sequential [Counter] @answered options: a_counter_is_opened_as_it_was_created;
    "S-4" Sequential [Ordered] options: an_ordered_store_is_opened_as_it_was_created, a_skew_may_be_changed;
    "S-4" Sequential [Counter, Ordered] options: a_refused_opening_changes_nothing;
    "S-4" Concurrent [Counter] @answered options: one_of_racing_strategies_creates_the_namespace;
    "S-5" Sequential promises: the_promises_are_said, what_is_left_out_is_unsupported;
    "S-5" Sequential [Counter] @answered promises: a_strategy_works_or_names_a_better_one;
    "S-5" Sequential [..] promises: what_every_backend_has_is_there;
}
