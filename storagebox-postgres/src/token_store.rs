//! Tokens: each call is one function of the schema (`sql/token_store`).

use std::collections::BTreeSet;
use std::sync::Arc;

use sqlx::Row;
use sqlx::postgres::PgRow;
use storagebox_core::{Combined, Consumed, Created, Discarded, OpId, Result, TokenId, TokenStore, async_trait};
use tokio::time::Instant;
use tracing::instrument;

use crate::client::{AfterLostReply, Client, FunctionCall, OpenNamespace};
use crate::combining::{self, Combining, combine};
use crate::error::{read, unreadable};

/// The maximum number of tokens in one statement that creates or discards them.
const BATCH: usize = 5_000;
/// The maximum number of calls of `consume` in one statement.
const MOST: usize = 64;

#[derive(Debug)]
pub(crate) struct PostgresTokenStore {
    tokens: Arc<OpenNamespace>,
    combiner: Option<Combining<Consume>>,
}

#[derive(Clone, Debug)]
struct Consume {
    token: TokenId,
    op: OpId,
}

combine!("consume", Consume -> Consumed, |consume| consume.token.clone() => TokenId);

impl PostgresTokenStore {
    pub(crate) fn new(tokens: OpenNamespace) -> Self {
        let tokens = Arc::new(tokens);
        let combiner = combining::combiner(tokens.client(), MOST, &tokens, together);
        Self { tokens, combiner }
    }

    pub(crate) fn namespace(&self) -> &Arc<OpenNamespace> {
        &self.tokens
    }

    fn client(&self) -> &Client {
        self.tokens.client()
    }

    /// Calls a function about tokens in batches, each batch in its own transaction. Returns one answer per batch.
    async fn in_batches(
        &self,
        operation: &'static str,
        function: &'static str,
        tokens: &[TokenId],
    ) -> Result<Vec<PgRow>> {
        let distinct: Vec<_> = tokens.iter().map(TokenId::as_str).collect::<BTreeSet<_>>().into_iter().collect();
        let mut answers = Vec::new();
        for batch in distinct.chunks(BATCH) {
            let attempt = || async {
                let call = FunctionCall::rows(function)
                    .about(self.tokens.opened().await?)
                    .with(batch.to_vec())
                    .with(self.client().memory());
                self.client().row(&call).await
            };
            match self.client().settle(operation, attempt).await {
                Ok(answer) => answers.push(answer),
                Err(error) if answers.is_empty() => return Err(error),
                Err(error) => return Err(error.after_unresolved()),
            }
        }
        Ok(answers)
    }
}

async fn alone(
    tokens: &OpenNamespace,
    consume: &Consume,
    after_lost: AfterLostReply,
    deadline: Instant,
) -> Result<Consumed> {
    let attempt = |_| async {
        let mut answers = consumed(tokens, std::slice::from_ref(consume)).await?;
        answers.pop().ok_or_else(|| unreadable("token_consume"))
    };
    tokens.client().repeated(deadline, after_lost, attempt).await
}

async fn together(tokens: Arc<OpenNamespace>, mut calls: Vec<Consume>) -> Vec<Combined<Result<Consumed>>> {
    let places = combining::sort(&mut calls, |one, other| one.token.cmp(&other.token));
    combining::answers(tokens.client(), places, consumed(&tokens, &calls)).await
}

/// Consumes the tokens in one statement. `calls` must be sorted by token.
async fn consumed(tokens: &OpenNamespace, calls: &[Consume]) -> Result<Vec<Consumed>> {
    let client = tokens.client();
    let call = FunctionCall::rows("token_consume")
        .about(tokens.opened().await?)
        .with(calls.iter().map(|call| call.token.as_str()).collect::<Vec<_>>())
        .with(calls.iter().map(|call| call.op.as_str()).collect::<Vec<_>>())
        .with(client.memory());
    client.rows(&call).await?.iter().map(outcome).collect()
}

fn outcome(row: &PgRow) -> Result<Consumed> {
    match read::<String>("token_consume", row.try_get("outcome"))?.as_str() {
        "now" => Ok(Consumed::Now),
        "again" => Ok(Consumed::Again),
        "gone" => Ok(Consumed::AlreadyGone),
        _ => Err(unreadable("token_consume")),
    }
}

#[async_trait]
impl TokenStore for PostgresTokenStore {
    #[instrument(level = "trace", skip_all)]
    async fn create_tokens(&self, tokens: &[TokenId]) -> Result<Created> {
        let mut report = Created::default();
        for answer in self.in_batches("create", "token_create", tokens).await? {
            let count = |column| count(&answer, "token_create", column);
            report.created += count("created")?;
            report.already_live += count("already_live")?;
            report.gone += count("gone")?;
        }
        Ok(report)
    }

    #[instrument(level = "trace", skip_all)]
    async fn exists(&self, token: &TokenId) -> Result<bool> {
        let attempt = || async move {
            let call = FunctionCall::value("token_is_live").about(self.tokens.opened().await?).with(token.as_str());
            read("token_is_live", self.client().row(&call).await?.try_get(0))
        };
        self.client().settle("exists", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn consume(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        let consume = Consume { token: token.clone(), op: op.clone() };
        let deadline = self.client().deadline();
        let made_alone = |lost| alone(&self.tokens, &consume, AfterLostReply::after_batch(lost), deadline);
        combining::call(self.combiner.as_ref(), self.client(), &consume, made_alone).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn discard(&self, tokens: &[TokenId]) -> Result<Discarded> {
        let mut report = Discarded::default();
        for answer in self.in_batches("discard", "token_discard", tokens).await? {
            report.discarded += count(&answer, "token_discard", "discarded")?;
            report.already_gone += count(&answer, "token_discard", "already_gone")?;
        }
        Ok(report)
    }
}

fn count(row: &PgRow, function: &'static str, column: &str) -> Result<u64> {
    Ok(read::<i64>(function, row.try_get(column))?.unsigned_abs())
}
