//! Tokens: each call is one script (`lua/token_store`).

use std::collections::BTreeSet;

use storagebox_core::{Consumed, Created, Discarded, OpId, Result, TokenId, TokenStore, async_trait};
use tracing::instrument;

use crate::client::{Answer, OpenNamespace};
use crate::script::{Script, script};

static CREATE: Script =
    script!("token_create", CHANGES, timed, ["number", "buckets", "queue", "token", "tokens"], "token_store/create");
static EXISTS: Script =
    script!("token_exists", READS, timed, ["number", "buckets", "queue", "token"], "token_store/exists");
static CONSUME: Script =
    script!("token_consume", CHANGES, timed, ["number", "buckets", "queue", "token"], "token_store/consume");
static DISCARD: Script =
    script!("token_discard", CHANGES, timed, ["number", "buckets", "queue", "token", "tokens"], "token_store/discard");
pub(crate) static MAINTAIN: Script =
    script!("token_maintain", CHANGES, timed, ["number", "buckets", "queue", "front", "token"], "token_store/maintain");

/// The most tokens in one call of a script, because a script blocks all other calls.
const BATCH: usize = 1_000;

#[derive(Debug)]
pub(crate) struct RedisTokenStore(pub(crate) OpenNamespace);

impl RedisTokenStore {
    /// Runs the script on one batch of tokens after another, and returns the answers. Each batch is one atomic step.
    async fn in_batches(
        &self,
        operation: &'static str,
        script: &'static Script,
        tokens: &[TokenId],
    ) -> Result<Vec<Answer>> {
        let distinct = distinct(tokens);
        let is_large = distinct.len() > BATCH;
        let mut answers = Vec::new();
        for batch in distinct.chunks(BATCH) {
            let attempt = || async {
                let call = self.0.call(script).await?.with(self.0.client().memory()).with_all(batch);
                self.0.client().answer(&if is_large { call.in_bulk() } else { call }).await
            };
            match self.0.client().settle(operation, attempt).await {
                Ok(answer) => answers.push(answer),
                Err(error) if answers.is_empty() => return Err(error),
                Err(error) => return Err(error.after_unresolved()),
            }
        }
        Ok(answers)
    }
}

pub(crate) fn distinct(tokens: &[TokenId]) -> Vec<&str> {
    tokens.iter().map(TokenId::as_str).collect::<BTreeSet<_>>().into_iter().collect()
}

#[async_trait]
impl TokenStore for RedisTokenStore {
    #[instrument(level = "trace", skip_all)]
    async fn create_tokens(&self, tokens: &[TokenId]) -> Result<Created> {
        let mut report = Created::default();
        for answer in self.in_batches("create", &CREATE, tokens).await? {
            report.created += answer.count(0)?;
            report.already_live += answer.count(1)?;
            report.gone += answer.count(2)?;
        }
        Ok(report)
    }

    #[instrument(level = "trace", skip_all)]
    async fn exists(&self, token: &TokenId) -> Result<bool> {
        let attempt = || async move {
            let call = self.0.call(&EXISTS).await?.with(token.as_str());
            let answer = self.0.client().answer(&call).await?;
            match answer.word()? {
                "live" => Ok(true),
                "absent" => Ok(false),
                _ => Err(answer.unreadable()),
            }
        };
        self.0.client().settle("exists", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn consume(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        let attempt = || async move {
            let call = self.0.call(&CONSUME).await?.with(token.as_str()).with(op.as_str());
            let answer = self.0.client().answer(&call.with(self.0.client().memory())).await?;
            match answer.word()? {
                "now" => Ok(Consumed::Now),
                "again" => Ok(Consumed::Again),
                "gone" => Ok(Consumed::AlreadyGone),
                _ => Err(answer.unreadable()),
            }
        };
        self.0.client().settle("consume", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn discard(&self, tokens: &[TokenId]) -> Result<Discarded> {
        let mut report = Discarded::default();
        for answer in self.in_batches("discard", &DISCARD, tokens).await? {
            report.discarded += answer.count(0)?;
            report.already_gone += answer.count(1)?;
        }
        Ok(report)
    }
}
