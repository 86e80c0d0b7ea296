//! Values: V-1 to V-6.

mod bytes;
mod durations;
mod limits;
mod other_texts;
mod part_texts;
mod pool;
mod scopes;
mod shown;
mod texts;

use crate::case::cases;

pub(crate) use pool::{longest, nasty_items, nasty_texts};

cases! { Values:
    "V-1" Edge limits:
        a_text_has_one_byte_to_its_limit, a_text_out_of_its_limits_is_refused_by_name,
        u_0000_is_refused_wherever_it_stands;
    "V-2" Edge [ItemBank] texts: nasty_items_stay_different_and_whole, nasty_claims_stay_different;
    "V-2" Edge [Dedup] texts:
        nasty_record_ids_stay_different, nasty_operations_of_records_stay_different, nasty_leases_stay_different,
        nasty_fingerprints_stay_different;
    "V-2" Edge [Tokens] texts: nasty_tokens_stay_different;
    "V-2" Edge [Counter] texts: nasty_counter_keys_stay_different, nasty_operations_of_counters_stay_different;
    "V-2" Edge [Entities] texts: nasty_entities_and_messages_stay_different;
    "V-2" Edge [Ordered] texts: nasty_ordered_keys_stay_different, nasty_writers_stay_different;
    "V-2" Edge [ItemBank] other_texts: every_call_of_a_nasty_claim_is_its_own, every_call_of_a_nasty_item_is_its_own;
    "V-2" Edge [Dedup] other_texts:
        nasty_operations_of_replacements_stay_different, nasty_ids_are_forgotten_alone,
        every_call_of_a_nasty_lease_is_its_own, nasty_fingerprints_are_kept_by_what_follows;
    "V-2" Edge [Tokens] other_texts: nasty_tokens_are_discarded_alone;
    "V-2" Edge [Counter] other_texts: nasty_operations_are_cancelled_alone;
    "V-2" Edge [Entities] other_texts: nasty_attempts_stay_different;
    "V-2" Edge [Entities] part_texts: every_call_of_a_nasty_entry_is_its_own;
    "V-2" Edge [JoinedEntities, Entities, Tokens] part_texts: nasty_tokens_of_commits_stay_different;
    "V-2" Edge [Strategies, Counter] part_texts: nasty_keys_of_ledgers_stay_different;
    "V-2" Edge [Ordered] other_texts: every_call_of_a_nasty_key_is_its_own;
    "V-2" Edge [..] texts: nasty_namespace_names_stay_different;
    "V-3" Edge bytes: a_payload_has_up_to_256_kib;
    "V-3" Edge [Dedup] bytes: recorded_bytes_come_back, replaced_bytes_come_back, completed_bytes_come_back;
    "V-3" Edge [Entities] bytes: committed_bytes_come_back;
    "V-3" Edge [Ordered] bytes: ordered_bytes_come_back;
    "V-4" Edge shown: debug_shows_lengths_alone;
    "V-4" Edge [ItemBank, Dedup, Ordered] shown: debug_of_answers_shows_lengths_alone;
    "V-5" Sequential [ItemBank] scopes: a_claim_is_one_per_bank, an_item_is_one_per_bank;
    "V-5" Sequential [Dedup] scopes: an_operation_is_one_per_id;
    "V-5" Sequential [Tokens] scopes: an_operation_is_one_per_token;
    "V-5" Sequential [Counter] scopes: an_operation_is_one_per_counter;
    "V-5" Sequential [Dedup, Tokens, Counter, Ordered] scopes: an_operation_is_one_per_namespace;
    "V-5" Edge [..] scopes: two_texts_are_never_joined_to_one;
    "V-6" Edge [ItemBank] durations: a_hold_lasts_1_ms_to_100_years;
    "V-6" Edge [Dedup] durations: a_retention_lasts_1_ms_to_100_years, a_lease_lasts_1_ms_to_100_years;
    "V-6" Edge [Ordered] durations: ordered_options_last_1_ms_to_100_years;
    "V-6" Edge [Counter] durations: a_counter_remembers_1_ms_to_100_years;
}
