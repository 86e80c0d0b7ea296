//! Tokens as they should be, for one caller.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use storagebox_core::{Backend, Consumed, Created, Discarded, OpId, Result, TokenId, TokenStore};

use super::tokens_of;
use crate::case::Verdict;
use crate::failure::ensure_eq;
use crate::model::{self, compare};
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
struct Tokens(BTreeMap<TokenId, Token>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Live,
    Consumed(OpId),
    Discarded,
}

impl Tokens {
    fn create(&mut self, tokens: &[TokenId]) -> Created {
        let mut report = Created::default();
        for token in tokens.iter().collect::<BTreeSet<_>>() {
            match self.0.get(token) {
                Some(Token::Live) => report.already_live += 1,
                Some(Token::Consumed(_) | Token::Discarded) => report.gone += 1,
                None => {
                    self.0.insert(token.clone(), Token::Live);
                    report.created += 1;
                }
            }
        }
        report
    }

    fn lives(&self, token: &TokenId) -> bool {
        self.0.get(token) == Some(&Token::Live)
    }

    fn consume(&mut self, token: &TokenId, op: &OpId) -> Consumed {
        if self.lives(token) {
            self.0.insert(token.clone(), Token::Consumed(op.clone()));
            return Consumed::Now;
        }
        match self.0.get(token) {
            Some(Token::Consumed(by)) if by == op => Consumed::Again,
            _ => Consumed::AlreadyGone,
        }
    }

    fn discard(&mut self, tokens: &[TokenId]) -> Discarded {
        let mut report = Discarded::default();
        for token in tokens.iter().collect::<BTreeSet<_>>() {
            if self.lives(token) {
                report.discarded += 1;
            } else {
                report.already_gone += 1;
            }
            if !matches!(self.0.get(token), Some(Token::Consumed(_))) {
                self.0.insert(token.clone(), Token::Discarded);
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
            Call::Create(all) => {
                ensure_eq!(tokens.create_tokens(all).await?, self.create(all), "what was created");
            }
            Call::Exists(token) => {
                ensure_eq!(tokens.exists(token).await?, self.lives(token), "whether it lives");
            }
            Call::Consume(token, op) => {
                ensure_eq!(tokens.consume(token, op).await?, self.consume(token, op), "consuming");
            }
            Call::Discard(all) => {
                ensure_eq!(tokens.discard(all).await?, self.discard(all), "what was discarded");
            }
        }
        Ok(())
    }

    /// Gone tokens are remembered for much longer than a sequence lasts, live ones for ever.
    fn pass(&mut self, _duration: Duration) {}
}

/// One digit is a valid token.
fn a_token(text: String) -> TokenId {
    TokenId::new(text).expect("one digit")
}

/// One letter is a valid operation.
fn an_op(text: String) -> OpId {
    OpId::new(text).expect("one letter")
}
