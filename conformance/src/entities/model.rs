//! The model of entities, for one caller.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use storagebox_core::{
    Backend, Chosen, Commit, Committed, EntityChange, EntityLedger, EntryId, Opened, OutboxEntry, Payload, Registered,
    Result, Version,
};

use super::{Messaged, entities_of, fresh_entry, op, payload};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::model::{self, compare, memory};
use crate::pages::after;
use crate::world::World;

pub(super) async fn random_calls_match_the_model(world: &World) -> Verdict {
    compare(world, Entities::default()).await
}

#[derive(Clone, Debug)]
struct Call {
    entity: &'static str,
    message: &'static str,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// Commits against the version that the entity had `age` commits ago.
    Commit {
        attempt: &'static str,
        change: EntityChange,
        age: usize,
    },
    /// Registers an attempt for the entry that this commit added.
    Register {
        commit: &'static str,
        attempt: &'static str,
    },
    Choose {
        commit: &'static str,
        attempt: &'static str,
    },
    Remove {
        commit: &'static str,
    },
    Pending {
        limit: usize,
    },
}

const ENTITIES: [&str; 2] = ["ada", "bob"];
const MESSAGES: [&str; 2] = ["m1", "m2"];
const ATTEMPTS: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Debug, Default)]
struct Entities {
    now: Duration,
    entities: BTreeMap<&'static str, Entity>,
}

#[derive(Clone, Debug, Default)]
struct Entity {
    /// Every version that was seen, the newest last.
    versions: Vec<Version>,
    state: Option<Payload>,
    outbox: BTreeMap<&'static str, OutboxEntry>,
    since: Duration,
}

impl Entity {
    fn is_forgotten(&self, now: Duration) -> bool {
        self.state.is_none() && self.outbox.is_empty() && self.since + memory() <= now
    }

    fn opened(&self, message: &str) -> Opened {
        Opened {
            version: self.versions.last().copied(),
            state: self.state.clone(),
            entry: self.outbox.get(message).cloned(),
            token_is_live: None,
        }
    }

    /// Returns the entry that this commit added.
    fn entry(&mut self, message: &str, commit: &str) -> Option<&mut OutboxEntry> {
        let is_its = |entry: &&mut OutboxEntry| entry.attempts[0].as_str() == commit;
        self.outbox.get_mut(message).filter(is_its)
    }
}

impl Entities {
    /// Reads the entity and compares it with the model.
    async fn look(&mut self, entities: &dyn EntityLedger, call: &Call) -> Result<Messaged, Failure> {
        let one = Messaged::new(call.entity, call.message)?;
        let (found, now) = (one.open(entities).await?, self.now);
        let known = self.entities.entry(call.entity).or_default();
        // If the store may have forgotten the absent entity, the model forgets the entity too.
        if found == Opened::default() && known.is_forgotten(now) {
            *known = Entity::default();
        }
        ensure_eq!(found, known.opened(call.message), "the entity");
        Ok(one)
    }

    async fn commit(
        &mut self,
        entities: &dyn EntityLedger,
        call: &Call,
        (attempt, change, age): (&'static str, &EntityChange, usize),
    ) -> Verdict {
        let (one, now) = (self.look(entities, call).await?, self.now);
        let known = self.entities.entry(call.entity).or_default();
        let opened = match (age, known.versions.len()) {
            (0, _) => known.versions.last().copied(),
            (age, versions) => versions.checked_sub(age + 1).map(|at| known.versions[at]),
        };
        let commit = Commit { opened, attempt: op(attempt)?, change: change.clone(), ..one.commit(entities).await? };
        let commit = Commit { entry: Some(payload(&format!("{attempt} of {}", call.message))?), ..commit };
        let expected = match known.outbox.get(call.message) {
            Some(entry) if entry.attempts[0] == commit.attempt => (Committed::Committed, false),
            Some(_) => (Committed::Conflict, false),
            None if known.versions.last().copied() != opened => (Committed::Conflict, false),
            None => (Committed::Committed, true),
        };
        ensure_eq!(entities.commit(&commit).await?, expected.0, "a commit to {opened:?}");
        if expected.1 {
            let found = one.open(entities).await?.version;
            let is_new = found.is_some_and(|version| !known.versions.contains(&version));
            ensure!(is_new, "a commit to {:?} made the version {found:?}", known.versions);
            known.versions.extend(found);
            known.outbox.extend(fresh_entry(&commit).map(|entry| (call.message, entry)));
            known.since = now;
            match change {
                EntityChange::Keep => {}
                EntityChange::Put(state) => known.state = Some(state.clone()),
                EntityChange::Delete => known.state = None,
            }
        }
        Ok(())
    }

    fn register(&mut self, call: &Call, commit: &str, attempt: &str) -> Result<Registered> {
        let attempt = op(attempt)?;
        let entry = self.entities.entry(call.entity).or_default().entry(call.message, commit);
        Ok(match entry {
            None => Registered::Gone,
            Some(entry) if entry.chosen.is_some() => Registered::Chosen(entry.clone()),
            Some(entry) => {
                if !entry.attempts.contains(&attempt) {
                    entry.attempts.push(attempt);
                }
                Registered::Registered
            }
        })
    }

    fn choose(&mut self, call: &Call, commit: &str, attempt: &str) -> Result<Chosen> {
        let attempt = op(attempt)?;
        let entry = self.entities.entry(call.entity).or_default().entry(call.message, commit);
        Ok(match entry {
            Some(entry) if entry.attempts.contains(&attempt) => {
                entry.chosen.get_or_insert(attempt);
                Chosen::Chosen(entry.clone())
            }
            _ => Chosen::Gone,
        })
    }

    fn remove(&mut self, call: &Call, commit: &str) -> bool {
        let (known, now) = (self.entities.entry(call.entity).or_default(), self.now);
        let is_there = known.entry(call.message, commit).is_some();
        if is_there {
            known.outbox.remove(call.message);
            known.since = now;
        }
        is_there
    }

    async fn pending(&self, entities: &dyn EntityLedger, limit: usize) -> Verdict {
        let (mut found, mut cursor) = (vec![], None);
        loop {
            let page = entities.pending(cursor.as_ref(), limit).await?;
            ensure!(page.entries.len() <= limit, "a page of {limit} has {} entries", page.entries.len());
            found.extend(page.entries);
            cursor = after(cursor.as_ref(), page.next)?;
            if cursor.is_none() {
                break;
            }
        }
        let mut expected = BTreeSet::new();
        for (entity, known) in &self.entities {
            for (message, entry) in &known.outbox {
                let Messaged { key, message } = Messaged::new(entity, message)?;
                expected.insert(EntryId { key, message, commit: entry.attempts[0].clone() });
            }
        }
        ensure_eq!(found.len(), expected.len(), "entries in pages of {limit}");
        ensure_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected, "the entries");
        Ok(())
    }
}

impl model::Model for Entities {
    type Call = Call;
    type Namespaces = Arc<dyn EntityLedger>;

    fn calls() -> BoxedStrategy<Call> {
        let attempt = || prop::sample::select(&ATTEMPTS[..]);
        let change = prop_oneof![
            2 => "[xyz]".prop_map(|text| EntityChange::Put(Payload::try_from(text.as_str()).unwrap_or_default())),
            1 => Just(EntityChange::Keep),
            2 => Just(EntityChange::Delete),
        ];
        let what = prop_oneof![
            6 => (attempt(), change, prop_oneof![5 => Just(0_usize), 1 => 1_usize..3])
                .prop_map(|(attempt, change, age)| What::Commit { attempt, change, age }),
            2 => (attempt(), attempt()).prop_map(|(commit, attempt)| What::Register { commit, attempt }),
            2 => (attempt(), attempt()).prop_map(|(commit, attempt)| What::Choose { commit, attempt }),
            3 => attempt().prop_map(|commit| What::Remove { commit }),
            1 => (1_usize..4).prop_map(|limit| What::Pending { limit }),
        ];
        let about = (prop::sample::select(&ENTITIES[..]), prop::sample::select(&MESSAGES[..]), what);
        about.prop_map(|(entity, message, what)| Call { entity, message, what }).boxed()
    }

    fn open(&self, store: &Arc<dyn Backend>) -> Result<Arc<dyn EntityLedger>> {
        entities_of(store)
    }

    async fn step(&mut self, entities: &Arc<dyn EntityLedger>, call: &Call) -> Verdict {
        let entities = &**entities;
        let one = Messaged::new(call.entity, call.message)?;
        match &call.what {
            What::Commit { attempt, change, age } => self.commit(entities, call, (*attempt, change, *age)).await?,
            What::Register { commit, attempt } => {
                let found = entities.register(&one.entry_of(commit)?, &op(*attempt)?).await?;
                ensure_eq!(found, self.register(call, commit, attempt)?, "registering");
            }
            What::Choose { commit, attempt } => {
                let found = entities.choose(&one.entry_of(commit)?, &op(*attempt)?).await?;
                ensure_eq!(found, self.choose(call, commit, attempt)?, "choosing");
            }
            What::Remove { commit } => {
                let found = entities.remove(&one.entry_of(commit)?).await?;
                ensure_eq!(found, self.remove(call, commit), "removing");
            }
            What::Pending { limit } => self.pending(entities, *limit).await?,
        }
        self.look(entities, call).await.map(drop)
    }

    fn pass(&mut self, duration: Duration) {
        self.now += duration;
    }
}
