//! The store as a whole: S-1 to S-5 and S-8.

mod apart;
mod bare;
mod ends;
mod everything;
mod namespaces;
pub(crate) mod numbers;
mod options;
mod processes;
mod promises;
pub(crate) mod race;
mod setup;
pub(crate) mod steps;
pub(crate) mod storm;
mod upkeep;

use crate::case::cases;

cases! { Store:
    "S-1" Sequential setup: a_store_that_is_set_up_answers;
    "S-1" Sequential [ItemBank] setup: setting_up_again_changes_nothing;
    "S-1" Sequential [Dedup] setup: setting_up_again_repeats_no_number;
    "S-1" Sequential [..] setup: setting_up_again_loses_nothing;
    "S-1" Sequential bare: a_place_that_is_not_set_up_says_so;
    "S-1" Concurrent [ItemBank] setup: many_set_up_at_once;
    "S-1" Concurrent [..] bare: many_set_up_a_bare_place_at_once;
    "S-8" Process [..] bare: a_killed_process_has_set_up;
    "S-1" Cancel [ItemBank] setup: dropping_a_setup_leaves_the_store_whole;
    "S-2" Sequential [..] upkeep: upkeep_keeps_what_a_promise_needs, upkeep_after_a_while_keeps_what_lives;
    "S-2" Sequential [ItemBank, Dedup, Tokens, Counter] upkeep: upkeep_is_bounded, upkeep_says_whether_there_is_more;
    "S-2" Sequential [Tokens] upkeep: upkeep_of_much_says_whether_there_is_more;
    "S-8" Sequential [..] ends: closing_loses_nothing;
    "S-2" Concurrent [ItemBank, Dedup, Tokens] upkeep: upkeep_beside_callers_disturbs_nobody;
    "S-2" Cancel [..] upkeep: dropping_upkeep_loses_nothing;
    "S-8" Crash [..] ends: every_namespace_survives_a_restart;
    "S-8" Process [ItemBank] processes:
        a_killed_process_has_made_what_it_was_told_of_a_bank, a_process_that_is_killed_in_the_middle_leaves_a_whole_bank;
    "S-8" Process [Dedup] processes:
        a_killed_process_has_made_what_it_was_told_of_records, no_process_repeats_a_fence_or_a_version;
    "S-8" Process [Tokens] processes: a_killed_process_has_made_what_it_was_told_of_tokens;
    "S-8" Process [Counter] processes: a_killed_process_has_made_what_it_was_told_of_counters;
    "S-8" Process [Ordered] processes: a_killed_process_has_made_what_it_was_told_of_values;
    "S-8" Process [Entities] processes:
        a_killed_process_has_made_what_it_was_told_of_entities, no_process_repeats_a_version_of_an_entity;
    "S-8" Crash [ItemBank] processes: a_killed_server_has_made_what_it_said_of_a_bank;
    "S-8" Crash [Dedup] processes: a_killed_server_has_made_what_it_said_of_records;
    "S-8" Crash [Tokens] processes: a_killed_server_has_made_what_it_said_of_tokens;
    "S-8" Crash [Counter] processes: a_killed_server_has_made_what_it_said_of_counters;
    "S-8" Crash [Ordered] processes: a_killed_server_has_made_what_it_said_of_values;
    "S-8" Crash [Entities] processes: a_killed_server_has_made_what_it_said_of_entities;
    "S-8" Beside [..] processes: a_process_sees_at_once_what_another_does;
    "S-8" Beside [Entities] processes: a_process_sees_at_once_what_another_does_to_entities;
    "S-8" Beside [ItemBank, Dedup, Tokens, Counter] processes: what_two_processes_race_for_is_won_once;
    "S-3" Sequential [..] namespaces:
        namespaces_of_different_kinds_share_nothing, namespaces_of_different_names_share_nothing,
        handles_of_one_name_share_one_namespace;
    "S-3" Sequential [..] apart: what_ends_in_one_namespace_lives_in_another;
    "S-3" Sequential [Dedup] namespaces: records_and_leases_of_one_name_are_one;
    "S-3" Edge [..] namespaces: names_alike_are_different_namespaces;
    "S-3" Edge [ItemBank, Dedup, Ordered] namespaces: a_listing_shows_its_own_namespace_alone;
    "S-3" Concurrent [..] namespaces: racing_first_calls_share_one_namespace;
    "S-3" Sequential [Entities] namespaces: entities_of_different_names_share_nothing;
    "S-4" Sequential [Counter] @Answers options: a_counter_is_opened_as_it_was_created;
    "S-4" Sequential [Ordered] options: an_ordered_store_is_opened_as_it_was_created, a_skew_may_be_changed;
    "S-4" Sequential [Counter, Ordered] options: a_refused_opening_changes_nothing;
    "S-4" Concurrent [Counter] @Answers options: one_of_racing_strategies_creates_the_namespace;
    "S-5" Sequential promises: the_promises_are_said, what_is_left_out_is_unsupported;
    "S-5" Sequential [Counter] @Answers promises: a_strategy_works_or_names_a_better_one;
    "S-5" Sequential [..] promises: what_every_backend_has_is_there;
}
