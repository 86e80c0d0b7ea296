//! The model of tokens, for one caller.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use storagebox_core::{Backend, Consumed, Created, Discarded, OpId, Result, TokenId, TokenStore};

use super::tokens_of;
use crate::failure::{Verdict, ensure, ensure_eq};
use crate::model::{self, compare, memory};
use crate::world::World;

pub(super) async fn random_calls_match_the_model(world: &World) -> Verdict {
    compare(world, Tokens::default()).await
}

#[derive(Clone, Debug)]
enum Call {
    Create(Vec<TokenId>),
    Exists(TokenId),
    Consume(TokenId, OpId),
    Discard(Vec<TokenId>),
}

#[derive(Clone, Debug, Default)]
struct Tokens {
    now: Duration,
    tokens: BTreeMap<TokenId, Token>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Live,
    Gone(Gone),
}

/// A consumed or discarded token, and how long the store must remember its end and its consumer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Gone {
    until: Duration,
    by: Option<(OpId, Duration)>,
}

impl Tokens {
    fn lives(&self, token: &TokenId) -> bool {
        self.tokens.get(token) == Some(&Token::Live)
    }

    fn gone(&self, token: &TokenId) -> Option<&Gone> {
        match self.tokens.get(token)? {
            Token::Gone(gone) => Some(gone),
            Token::Live => None,
        }
    }

    /// Returns whether `create` must report the token as gone.
    fn is_fenced(&self, token: &TokenId) -> bool {
        self.gone(token).is_some_and(|gone| self.now < gone.until)
    }

    /// Creates tokens, and compares the report with the model.
    async fn create(&mut self, tokens: &dyn TokenStore, all: &[TokenId]) -> Verdict {
        let found = tokens.create_tokens(all).await?;
        let mut expected = Created::default();
        for token in all.iter().collect::<BTreeSet<_>>() {
            // The store may have forgotten that the token is gone.
            let lives = tokens.exists(token).await?;
            ensure!(!(lives && self.is_fenced(token)), "{token:?} was created again, though it is gone");
            ensure!(lives || self.gone(token).is_some(), "{token:?} is not there after it was created");
            match (lives, self.lives(token)) {
                (true, true) => expected.already_live += 1,
                (true, false) => expected.created += 1,
                (false, _) => expected.gone += 1,
            }
            if lives {
                self.tokens.insert(token.clone(), Token::Live);
            }
        }
        ensure_eq!(found, expected, "what was created");
        Ok(())
    }

    fn consume(&mut self, token: &TokenId, op: &OpId, found: Consumed) -> Verdict {
        let until = self.now + memory();
        if self.lives(token) {
            ensure_eq!(found, Consumed::Now, "consuming a live token");
            self.tokens.insert(token.clone(), Token::Gone(Gone { until, by: Some((op.clone(), until)) }));
            return Ok(());
        }
        let by = self.gone(token).and_then(|gone| gone.by.as_ref()).filter(|(by, _)| by == op);
        match by {
            Some((_, until)) if self.now < *until => ensure_eq!(found, Consumed::Again, "consuming again"),
            Some(_) => ensure!(found != Consumed::Now, "a token that is gone was consumed again"),
            None => ensure_eq!(found, Consumed::AlreadyGone, "consuming what is gone or unknown"),
        }
        Ok(())
    }

    fn discard(&mut self, all: &[TokenId]) -> Discarded {
        let mut report = Discarded::default();
        let until = self.now + memory();
        for token in all.iter().collect::<BTreeSet<_>>() {
            match self.lives(token) {
                true => report.discarded += 1,
                false => report.already_gone += 1,
            }
            if !self.is_fenced(token) {
                let by = self.gone(token).and_then(|gone| gone.by.clone());
                self.tokens.insert(token.clone(), Token::Gone(Gone { until, by }));
            }
        }
        report
    }
}

impl model::Model for Tokens {
    type Call = Call;
    type Namespaces = Arc<dyn TokenStore>;

    fn calls() -> BoxedStrategy<Call> {
        let token = || "[1-5]".prop_map(a_token);
        let tokens = || prop::collection::vec(token(), 0..4);
        let op = "[a-c]".prop_map(an_op);
        prop_oneof![
            4 => tokens().prop_map(Call::Create),
            4 => token().prop_map(Call::Exists),
            5 => (token(), op).prop_map(|(token, op)| Call::Consume(token, op)),
            1 => tokens().prop_map(Call::Discard),
        ]
        .boxed()
    }

    fn open(&self, store: &Arc<dyn Backend>) -> Result<Arc<dyn TokenStore>> {
        tokens_of(store)
    }

    async fn step(&mut self, tokens: &Arc<dyn TokenStore>, call: &Call) -> Verdict {
        match call {
            Call::Create(all) => self.create(&**tokens, all).await?,
            Call::Exists(token) => {
                ensure_eq!(tokens.exists(token).await?, self.lives(token), "whether it lives");
            }
            Call::Consume(token, op) => self.consume(token, op, tokens.consume(token, op).await?)?,
            Call::Discard(all) => {
                ensure_eq!(tokens.discard(all).await?, self.discard(all), "what was discarded");
            }
        }
        Ok(())
    }

    fn pass(&mut self, duration: Duration) {
        self.now += duration;
    }
}

fn a_token(text: String) -> TokenId {
    TokenId::new(text).expect("one digit")
}

fn an_op(text: String) -> OpId {
    OpId::new(text).expect("one letter")
}
