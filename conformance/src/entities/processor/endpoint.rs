//! An endpoint whose messages are distinguishable: by their effects on the state, and by what they send.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fastrand::Rng;
use storagebox_core::{
    Backend, BoxError, Consumed, Decision, Dispatcher, EntityLedger, Handler, Ids, Message, Outcome, Outgoing, Payload,
    ProcessError, Processor, RandomIds, Result, TokenId, TokenStore, async_trait,
};

use super::super::{entities_of, joined_of, key, op};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::race::answered;

/// Message number `n` sends `n % OUTPUTS` messages.
pub(super) const OUTPUTS: usize = 3;

/// Whether the ledger joins the tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    Split,
    Joined,
}

/// A processor, the ids that it generated, and the messages that it sent.
#[derive(Clone)]
pub(super) struct Endpoint {
    plan: Plan,
    entities: Arc<dyn EntityLedger>,
    tokens: Arc<dyn TokenStore>,
    processor: Processor,
    queue: Arc<Queue>,
    ids: Arc<Drawn>,
}

impl Endpoint {
    pub(super) fn on(store: &Arc<dyn Backend>, plan: Plan) -> Result<Self> {
        Self::with(store, plan, Arc::default(), Arc::default())
    }

    /// Creates an endpoint on another client, with the same queue and the same ids.
    pub(super) fn beside(&self, store: &Arc<dyn Backend>) -> Result<Self> {
        Self::with(store, self.plan, Arc::clone(&self.queue), Arc::clone(&self.ids))
    }

    fn with(store: &Arc<dyn Backend>, plan: Plan, queue: Arc<Queue>, ids: Arc<Drawn>) -> Result<Self> {
        let entities = match plan {
            Plan::Split => entities_of(store)?,
            Plan::Joined => joined_of(store)?,
        };
        let tokens = store.token_store(&"tokens".parse()?)?;
        let processor = Processor::new(Arc::clone(&entities), Arc::clone(&tokens), Appends).ids(Arc::clone(&ids) as _);
        let processor = processor.sends(Arc::clone(&tokens), Arc::clone(&queue) as _);
        Ok(Self { plan, entities, tokens, processor, queue, ids })
    }

    /// Lets the dispatcher sometimes fail, before or after it has sent the messages.
    pub(super) fn with_failing_dispatch(mut self, seed: u64) -> Self {
        let (queue, tokens) = (Arc::clone(&self.queue), Arc::clone(&self.tokens));
        let failing = Failing { queue, tokens: Arc::clone(&tokens), rng: Mutex::new(Rng::with_seed(seed)) };
        self.processor = self.processor.sends(tokens, Arc::new(failing));
        self
    }

    pub(super) async fn message(&self, entity: &str, number: usize) -> Result<Message, Failure> {
        let token = TokenId::new(format!("{entity}-{number}"))?;
        answered(|| self.tokens.create_tokens(std::slice::from_ref(&token))).await?;
        Ok(Message::new(format!("{entity}-{number}"), entity, number.to_string())?.with_token(token))
    }

    /// Processes a message once. Returns `None` if the answer was lost.
    pub(super) async fn process(&self, message: &Message) -> Result<Option<Outcome>, Failure> {
        match self.processor.process(message).await {
            Ok(outcome) => Ok(Some(outcome)),
            Err(ProcessError::Store(error)) if error.is_retryable() => Ok(None),
            Err(ProcessError::Dispatch(_)) => Ok(None),
            Err(error) => Err(Failure::new(format!("{message:?}: {error:?}"))),
        }
    }

    /// Processes a message repeatedly until it is answered.
    pub(super) async fn processed(&self, message: &Message) -> Result<Outcome, Failure> {
        for _ in 0..1_000 {
            if let Some(outcome) = self.process(message).await? {
                return Ok(outcome);
            }
        }
        Err(Failure::new(format!("{message:?} has no answer after 1,000 calls")))
    }

    pub(super) async fn entry_of(&self, message: &Message) -> Result<bool, Failure> {
        let opened = answered(|| self.entities.open(&message.entity, &message.id, None)).await?;
        Ok(opened.entry.is_some())
    }

    pub(super) async fn pending(&self) -> Result<usize, Failure> {
        Ok(answered(|| self.entities.pending(None, 100)).await?.entries.len())
    }

    /// Finishes all pending entries, without further copies of their messages.
    pub(super) async fn sweep(&self) -> Verdict {
        for _ in 0..1_000 {
            let pending = answered(|| self.entities.pending(None, 100)).await?.entries;
            if pending.is_empty() {
                return Ok(());
            }
            for entry in pending {
                match self.processor.resume(&entry.key, &entry.message).await {
                    Err(ProcessError::Store(error)) if error.is_retryable() => {}
                    resumed => drop(resumed.map_err(|error| Failure::new(format!("{entry:?}: {error:?}")))?),
                }
            }
        }
        Err(Failure::new("entries are still pending after 1,000 sweeps"))
    }

    /// Checks that neither the message's token nor its entry is left.
    pub(super) async fn ensure_finished(&self, message: &Message) -> Verdict {
        if let Some(token) = &message.token {
            ensure!(!answered(|| self.tokens.exists(token)).await?, "the token of {message:?} is left");
        }
        ensure!(!self.entry_of(message).await?, "the entry of {message:?} is left");
        Ok(())
    }

    /// Checks that each message changed the entity once and sent its copies with one token. Then consumes these tokens,
    /// and checks that exactly these tokens were live.
    pub(super) async fn ensure_once(&self, entity: &str, numbers: Range<usize>) -> Verdict {
        let opened = answered(|| async { self.entities.open(&key(entity)?, &"look".parse()?, None).await }).await?;
        let state = opened.state.unwrap_or_default();
        let mut effects: Vec<_> =
            state.as_bytes().split(|byte| *byte == b',').filter(|part| !part.is_empty()).collect();
        effects.sort_unstable();
        let mut expected: Vec<_> = numbers.clone().map(|number| number.to_string()).collect();
        expected.sort_unstable();
        ensure_eq!(effects, expected.iter().map(|number| number.as_bytes()).collect::<Vec<_>>(), "the effects");
        let unborn = lock(&self.queue.unborn).clone();
        ensure_eq!(unborn, vec![], "tokens that were not there when their messages were sent");
        let sent = self.queue.sent_by(entity);
        let expected: usize = numbers.map(|number| number % OUTPUTS).sum();
        ensure_eq!(sent.len(), expected, "different messages that were sent: {sent:?}");
        let mut live = BTreeSet::new();
        for (what, copies) in sent {
            ensure_eq!(copies.len(), 1, "ids and tokens of the copies of {what}: {copies:?}");
            live.extend(copies.into_iter().map(|(_, token)| token));
        }
        self.ensure_only_these_live(&live).await
    }

    async fn ensure_only_these_live(&self, live: &BTreeSet<TokenId>) -> Verdict {
        for token in live {
            let consumed = answered(|| async { self.tokens.consume(token, &op("receiver")?).await }).await?;
            ensure!(consumed != Consumed::AlreadyGone, "{token:?} is gone before its message was received");
        }
        for token in self.ids.tokens()? {
            ensure!(
                !answered(|| self.tokens.exists(&token)).await?,
                "{token:?} of an attempt that was given up is left"
            );
        }
        Ok(())
    }
}

/// Appends the number of the message to the state, and sends `number % OUTPUTS` messages.
struct Appends;

#[async_trait]
impl Handler for Appends {
    async fn handle(&self, state: Option<Payload>, message: &Message) -> Result<Decision, BoxError> {
        let number = String::from_utf8_lossy(message.body.as_bytes()).into_owned();
        let mut bytes = state.map(|state| state.as_bytes().to_vec()).unwrap_or_default();
        bytes.extend(number.bytes().chain([b',']));
        let mut decision = Decision::put(bytes)?;
        for output in 0..number.parse::<usize>()? % OUTPUTS {
            decision = decision.send(message.entity.as_str(), format!("{number}-{output}"))?;
        }
        Ok(decision)
    }
}

/// The sent messages in order, and the tokens that did not exist when their messages were sent.
#[derive(Default)]
struct Queue {
    sent: Mutex<Vec<Outgoing>>,
    unborn: Mutex<Vec<TokenId>>,
}

type Copies = BTreeSet<(String, TokenId)>;

impl Queue {
    /// Returns the copies of each message that the entity has sent, by the body of the message.
    fn sent_by(&self, entity: &str) -> BTreeMap<String, Copies> {
        let mut sent = BTreeMap::<String, Copies>::new();
        // The destination of a message is the name of the entity that sends the message.
        for outgoing in lock(&self.sent).iter().filter(|outgoing| outgoing.destination.as_str() == entity) {
            let body = String::from_utf8_lossy(outgoing.body.as_bytes()).into_owned();
            sent.entry(body).or_default().insert((outgoing.id.to_string(), outgoing.token.clone()));
        }
        sent
    }

    /// Records which tokens of these messages do not exist. Must be called before the messages are sent, when no token
    /// can have been consumed.
    async fn note_unborn(&self, messages: &[Outgoing], tokens: &dyn TokenStore) {
        for outgoing in messages {
            if let Ok(false) = tokens.exists(&outgoing.token).await {
                lock(&self.unborn).push(outgoing.token.clone());
            }
        }
    }
}

#[async_trait]
impl Dispatcher for Queue {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        lock(&self.sent).extend_from_slice(messages);
        Ok(())
    }
}

/// A dispatcher that sometimes returns an error, after it has sent no message, the first message or all messages.
struct Failing {
    queue: Arc<Queue>,
    tokens: Arc<dyn TokenStore>,
    rng: Mutex<Rng>,
}

#[async_trait]
impl Dispatcher for Failing {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        self.queue.note_unborn(messages, &*self.tokens).await;
        let fate = lock(&self.rng).u8(..12);
        let sent = match fate {
            0 => 0,
            1 => 1.min(messages.len()),
            _ => messages.len(),
        };
        self.queue.dispatch(&messages[..sent]).await?;
        if fate < 3 { Err("not all was sent".into()) } else { Ok(()) }
    }
}

/// Generates random ids and records them.
#[derive(Debug, Default)]
struct Drawn(Mutex<Vec<String>>);

impl Drawn {
    /// Returns every token that an attempt could have created from the recorded ids, and forgets these ids.
    fn tokens(&self) -> Result<Vec<TokenId>> {
        let numbered =
            |id: &String| (0..OUTPUTS).map(|number| TokenId::new(format!("{id}-{number}"))).collect::<Vec<_>>();
        std::mem::take(&mut *lock(&self.0)).iter().flat_map(numbered).collect()
    }
}

impl Ids for Drawn {
    fn fresh(&self) -> String {
        let id = RandomIds.fresh();
        lock(&self.0).push(id.clone());
        id
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
