//! Entities and their entries: E-1 to E-8, and the processor that uses them: P-1 to P-4.

mod ambiguous;
mod calls;
mod cancel;
mod concurrent;
mod crash;
mod edge;
mod joined;
mod model;
mod network;
mod pending;
mod processor;
mod sequential;
mod versions;

use std::sync::Arc;

use storagebox_core::{
    Backend, Chosen, Commit, EntityChange, EntityLedger, EntryId, Joins, Key, MessageId, OpId, Opened, OutboxEntry,
    Payload, Result, TokenId,
};

use crate::case::cases;
use crate::failure::Failure;
use crate::race::answered;
use crate::world::World;

cases! { Entities:
    "E-1" Sequential sequential: a_commit_to_another_version_is_a_conflict, an_absent_entity_is_created_once;
    "E-1" Concurrent concurrent: of_racing_commits_one_is_made, racing_messages_all_change_the_entity_once;
    "E-1" Ambiguous ambiguous: a_commit_that_lands_late_undoes_nothing;
    "E-2" Sequential model: random_calls_match_the_model;
    "E-2" Sequential sequential:
        a_commit_stores_the_state_and_its_entry, a_commit_changes_no_other_entry,
        a_message_that_has_an_entry_is_not_committed_again, a_repeated_commit_changes_nothing;
    "E-2" Edge edge: the_longest_and_the_shortest_are_kept, every_name_is_kept_as_it_is;
    "E-2" Ambiguous ambiguous: a_commit_whose_reply_is_lost_is_repeated;
    "E-2" Cancel cancel: dropping_any_call_leaves_the_entity_whole;
    "E-2" Network network: a_cut_connection_changes_the_entity_once;
    "E-2" Crash crash: what_was_committed_survives_a_restart;
    "E-3" Edge sequential: every_attempt_of_many_is_kept;
    "E-3" Sequential sequential: the_first_choice_stays, an_attempt_that_is_not_registered_is_not_chosen;
    "E-3" Concurrent concurrent: racing_choices_agree;
    "E-4" Sequential sequential: no_attempt_is_registered_after_the_choice;
    "E-4" Concurrent concurrent: who_chooses_sees_every_attempt;
    "E-5" Sequential sequential: every_client_opens_the_same;
    "E-5" Sequential pending: every_entry_is_listed_once;
    "E-5" Concurrent pending: entries_that_stay_are_listed_while_others_come_and_go;
    "E-5" Edge pending: a_page_without_room_or_of_a_foreign_cursor_is_refused;
    "E-6" Sequential versions:
        a_version_never_repeats, what_is_not_over_outlives_the_memory,
        a_deleted_entity_is_remembered_from_its_end_on;
    "E-6" Ambiguous versions: a_commit_that_lands_after_a_deletion_brings_nothing_back;
    "E-7" Sequential sequential: removing_again_changes_nothing;
    "E-7" Concurrent concurrent: racing_removals_remove_once;
    "E-7" Ambiguous ambiguous: what_lands_late_spares_a_later_entry;
    "P-1" Concurrent [Tokens] processor: racing_copies_take_effect_once;
    "P-1" Ambiguous [Tokens] processor: random_faults_take_effect_once;
    "P-2" Ambiguous [Tokens] processor: what_is_sent_again_carries_the_same_token;
    "P-3" Cancel [Tokens] processor: a_call_that_is_dropped_anywhere_is_finished_by_the_next;
    "P-4" Sequential [Tokens] processor: nothing_is_left_of_a_finished_message;
}

/// The cases for stores whose ledgers join tokens.
pub(crate) mod joint {
    use super::{joined, processor};
    use crate::case::cases;

    cases! { JoinedEntities:
        "E-6" Sequential joined: a_deletion_without_an_entry_is_remembered;
        "E-8" Sequential joined:
            a_joined_commit_changes_the_tokens_too, a_commit_that_is_not_made_changes_no_token,
            an_open_tells_whether_the_token_lives, a_commit_without_an_entry_is_known_by_its_token,
            a_token_that_is_gone_is_not_created, each_join_is_of_its_own_namespace,
            a_message_that_has_an_entry_keeps_its_token, a_commit_is_known_by_its_token_behind_its_entry,
            a_token_that_is_forgotten_is_created_again;
        "E-8" Edge joined: many_tokens_are_created_in_one_step, tokens_that_are_not_joined_are_refused;
        "E-8" Concurrent joined: a_token_is_consumed_by_one_commit, an_open_sees_one_moment;
        "E-8" Ambiguous joined: a_joined_commit_whose_reply_is_lost_is_repeated;
        "E-8" Cancel joined: dropping_a_joined_commit_leaves_all_or_nothing;
        "E-8" Network joined: a_cut_connection_leaves_all_or_nothing;
        "P-1" Ambiguous processor: random_faults_of_a_joined_ledger_take_effect_once;
        "P-4" Sequential processor: nothing_is_left_of_a_message_of_a_joined_ledger;
    }
}

fn key(text: impl Into<Arc<str>>) -> Result<Key> {
    Key::new(text)
}

fn message(text: impl Into<Arc<str>>) -> Result<MessageId> {
    MessageId::new(text)
}

fn op(text: impl Into<Arc<str>>) -> Result<OpId> {
    OpId::new(text)
}

fn payload(text: &str) -> Result<Payload> {
    Payload::try_from(text)
}

fn entities_of(store: &Arc<dyn Backend>) -> Result<Arc<dyn EntityLedger>> {
    store.entity_ledger(&"entities".parse()?, &Joins::default())
}

/// Opens a ledger of entities whose commits also change tokens in the namespace `tokens`.
fn joined_of(store: &Arc<dyn Backend>) -> Result<Arc<dyn EntityLedger>> {
    let (incoming, outgoing) = (Some("tokens".parse()?), Some("tokens".parse()?));
    store.entity_ledger(&"entities".parse()?, &Joins { incoming, outgoing })
}

fn split(world: &World) -> Result<Arc<dyn EntityLedger>> {
    entities_of(world.store())
}

/// A message of one entity.
#[derive(Clone, Debug)]
struct Messaged {
    key: Key,
    message: MessageId,
}

impl Messaged {
    fn new(entity: &str, name: &str) -> Result<Self> {
        Ok(Self { key: key(entity)?, message: message(name)? })
    }

    fn name(&self) -> &str {
        self.message.as_str()
    }

    fn entry(&self) -> Result<EntryId> {
        self.entry_of(self.name())
    }

    /// Returns the id of the entry that this commit added.
    fn entry_of(&self, commit: &str) -> Result<EntryId> {
        Ok(EntryId { key: self.key.clone(), message: self.message.clone(), commit: op(commit)? })
    }

    async fn open(&self, entities: &dyn EntityLedger) -> Result<Opened, Failure> {
        answered(|| entities.open(&self.key, &self.message, None)).await
    }

    /// Returns a commit that is based on the current version and sets the state to the message's name.
    async fn commit(&self, entities: &dyn EntityLedger) -> Result<Commit, Failure> {
        let opened = self.open(entities).await?.version;
        Ok(Commit {
            key: self.key.clone(),
            message: self.message.clone(),
            opened,
            change: EntityChange::Put(payload(self.name())?),
            attempt: op(self.name())?,
            entry: Some(payload(&format!("entry of {}", self.name()))?),
            consume: None,
            create: vec![],
        })
    }
}

/// Returns the entry that the commit adds, before later calls register or choose attempts.
fn fresh_entry(commit: &Commit) -> Option<OutboxEntry> {
    let content = commit.entry.clone()?;
    let chosen = (!commit.create.is_empty()).then(|| commit.attempt.clone());
    Some(OutboxEntry { content, attempts: vec![commit.attempt.clone()], chosen })
}

/// Returns the chosen attempt and all registered attempts.
fn choice(chosen: Chosen) -> Option<(Option<OpId>, Vec<OpId>)> {
    match chosen {
        Chosen::Chosen(entry) => Some((entry.chosen, entry.attempts)),
        Chosen::Gone => None,
    }
}

fn tokens(names: &[&str]) -> Result<Vec<TokenId>> {
    names.iter().map(|name| TokenId::new(*name)).collect()
}
