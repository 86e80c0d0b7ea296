//! One run: the next worker and the faults.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use storagebox_core::{Abandoned, Key, Message, MessageId, ProcessError, Processor, TokenId, TokenStore};
use storagebox_proofs::choices::Choices;
use storagebox_proofs::gate::Gate;
use storagebox_proofs::workers::{Limits, Task, Workers, ready};

use crate::endpoints::Endpoints;
use crate::judge::judge;
use crate::mutants::Mutant;
use crate::scenario::{Joined, Scenario, Work};

const STEPS: usize = 200;

pub(crate) struct Run {
    scenario: &'static Scenario,
    pub(crate) endpoints: Endpoints,
    pub(crate) workers: Workers,
    abandoned: Arc<AtomicBool>,
}

impl Run {
    pub(crate) fn new(scenario: &'static Scenario, joined: Joined, mutant: Option<Mutant>, limits: Limits) -> Self {
        let endpoints = Endpoints::new(joined, scenario.handler);
        let messages: Vec<_> = scenario.workers.iter().map(|work| token_of(work.message())).collect();
        ready(endpoints.tokens().create_tokens(&messages)).expect("tokens");
        let gate = Gate::default();
        let gates: Vec<_> = scenario.workers.iter().map(|_| gate.another()).collect();
        let processors: Vec<_> = gates.iter().map(|gate| endpoints.first_behind(gate, mutant)).collect();
        let abandoned = Arc::<AtomicBool>::default();
        let is_abandoned = Arc::clone(&abandoned);
        let begun = move |worker: usize| -> Task {
            let (processor, abandoned) = (processors[worker].clone(), Arc::clone(&is_abandoned));
            Box::pin(async move {
                let answer = answered(scenario.workers[worker], &processor, &abandoned).await;
                answer.map_err(|error| format!("{error:?}"))
            })
        };
        Self { scenario, endpoints, workers: Workers::new(gates, limits, begun), abandoned }
    }

    pub(crate) fn finish(&mut self, choices: &mut Choices) -> Result<(), String> {
        self.workers.begin_all();
        for _ in 0..STEPS {
            let events = self.workers.events();
            if events.is_empty() {
                return judge(self, self.scenario);
            }
            self.workers.apply(events[choices.of(events.len())]);
        }
        Err("the run does not end".to_owned())
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }
}

/// Does the work of one worker. Returns the answer as text for people.
async fn answered(work: Work, processor: &Processor, abandoned: &AtomicBool) -> Result<String, ProcessError> {
    Ok(match work {
        Work::Process(message) => format!("{:?}", processor.process(&message_of(message)).await?),
        Work::Resume(message) => format!("{:?}", processor.resume(&entity(), &id_of(message)).await?),
        Work::Abandon(message) => {
            let answer = processor.abandon(&message_of(message)).await?;
            abandoned.fetch_or(answer == Abandoned::Abandoned, Ordering::Relaxed);
            format!("{answer:?}")
        }
    })
}

pub(crate) fn entity() -> Key {
    Key::new("entity").expect("a key")
}

fn id_of(message: &str) -> MessageId {
    MessageId::new(message).expect("an id")
}

pub(crate) fn token_of(message: &str) -> TokenId {
    TokenId::new(format!("token of {message}")).expect("a token")
}

pub(crate) fn message_of(message: &str) -> Message {
    Message::new(message, entity(), "").expect("a message").with_token(token_of(message))
}
