//! Many concurrent callers.

use std::sync::Arc;

use storagebox_core::{Consumed, Created, Discarded, TokenId, TokenStore};

use super::{GONE, NEW, answered, batch, op, token};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::race::{SIZES, race};
use crate::world::World;

async fn consume(tokens: &dyn TokenStore, token: &TokenId, by: &str) -> Result<Consumed, Failure> {
    let by = op(by)?;
    answered(|| tokens.consume(token, &by)).await
}

async fn create_all(tokens: &dyn TokenStore, all: &[TokenId]) -> Result<Created, Failure> {
    answered(|| tokens.create_tokens(all)).await
}

fn count<T: PartialEq>(answers: &[T], wanted: &T) -> usize {
    answers.iter().filter(|answer| *answer == wanted).count()
}

/// Runs several races for each number of callers in `SIZES`, each race for one new token. Returns the token and the
/// answers of each race.
async fn races_for_one<T, Fut>(
    world: &World,
    call: impl Fn(Arc<dyn TokenStore>, TokenId, usize) -> Fut + Send + Sync,
) -> Result<Vec<(TokenId, Vec<T>)>, Failure>
where
    T: Send + 'static,
    Fut: Future<Output = Result<T, Failure>> + Send + 'static,
{
    let (tokens, mut races) = (world.tokens()?, vec![]);
    for round in 0..world.profile().rounds * 4 {
        for size in SIZES {
            let token = token(format!("{round}-{size}"))?;
            create_all(&*tokens, std::slice::from_ref(&token)).await?;
            let answers = race(size, |number| call(Arc::clone(&tokens), token.clone(), number)).await?;
            races.push((token, answers));
        }
    }
    Ok(races)
}

pub(super) async fn one_of_all_consumers_gets_now(world: &World) -> Verdict {
    let consumed = races_for_one(world, |tokens, token, number| async move {
        consume(&*tokens, &token, &format!("worker-{number}")).await
    });
    for (_, answers) in consumed.await? {
        let size = answers.len();
        ensure_eq!(count(&answers, &Consumed::Now), 1, "winners of {size} consumers");
        ensure_eq!(count(&answers, &Consumed::AlreadyGone), size - 1, "losers of {size} consumers");
    }
    Ok(())
}

pub(super) async fn racing_calls_of_the_winner_are_now_once(world: &World) -> Verdict {
    let consumed = races_for_one(world, |tokens, token, _| async move { consume(&*tokens, &token, "worker").await });
    for (_, answers) in consumed.await? {
        ensure_eq!(count(&answers, &Consumed::Now), 1, "calls of one operation that are answered Now");
        ensure_eq!(count(&answers, &Consumed::Again), answers.len() - 1, "calls that are answered Again");
    }
    Ok(())
}

pub(super) async fn a_token_is_consumed_or_discarded_once(world: &World) -> Verdict {
    let tokens = world.tokens()?;
    let ended = races_for_one(world, |tokens, token, number| async move { ends(&*tokens, &token, number).await });
    for (token, ended) in ended.await? {
        ensure_eq!(count(&ended, &true), 1, "calls of {} that report that they ended the token", ended.len());
        ensure!(!tokens.exists(&token).await?, "the token lives after that");
    }
    Ok(())
}

/// Consumes or discards the token, depending on `number`. Returns whether this call ended the token.
async fn ends(tokens: &dyn TokenStore, token: &TokenId, number: usize) -> Result<bool, Failure> {
    if number.is_multiple_of(2) {
        return Ok(consume(tokens, token, &format!("worker-{number}")).await? == Consumed::Now);
    }
    let report = answered(|| tokens.discard(std::slice::from_ref(token))).await?;
    ensure_eq!(report.discarded + report.already_gone, 1, "tokens that a discard of 1 reports");
    Ok(report.discarded == 1)
}

pub(super) async fn racing_discards_end_each_token_once(world: &World) -> Verdict {
    let tokens = world.tokens()?;
    for round in 0..world.profile().rounds {
        let all = Arc::new(batch(&format!("round-{round}"), 30)?);
        create_all(&*tokens, &all).await?;
        let reports = race(8, |_| {
            let (tokens, all) = (Arc::clone(&tokens), Arc::clone(&all));
            async move { answered(|| tokens.discard(&all)).await }
        })
        .await?;
        let discarded: u64 = reports.iter().map(|report| report.discarded).sum();
        ensure_eq!(discarded, 30, "tokens that the discards report as discarded");
        let whole = |report: &Discarded| report.discarded + report.already_gone == 30;
        ensure!(reports.iter().all(whole), "the reports of a discard of 30 tokens have other numbers: {reports:?}");
    }
    Ok(())
}

pub(super) async fn racing_creates_create_once(world: &World) -> Verdict {
    let tokens = world.tokens()?;
    for round in 0..world.profile().rounds {
        let all = Arc::new(batch(&format!("round-{round}"), 30)?);
        let reports = race(8, |_| {
            let (tokens, all) = (Arc::clone(&tokens), Arc::clone(&all));
            async move { create_all(&*tokens, &all).await }
        })
        .await?;
        let created: u64 = reports.iter().map(|report| report.created).sum();
        ensure_eq!(created, 30, "tokens that the creates report as created");
        let whole = |report: &Created| report.created + report.already_live == 30 && report.gone == 0;
        ensure!(reports.iter().all(whole), "the reports of a create of 30 tokens have other numbers: {reports:?}");
        for token in all.iter() {
            ensure_eq!(consume(&*tokens, token, "first").await?, Consumed::Now, "the first consumer");
            ensure_eq!(consume(&*tokens, token, "second").await?, Consumed::AlreadyGone, "the second");
        }
    }
    Ok(())
}

pub(super) async fn racing_creates_bring_nothing_back(world: &World) -> Verdict {
    let tokens = world.tokens()?;
    for round in 0..world.profile().rounds * 4 {
        let token = token(format!("round-{round}"))?;
        ensure_eq!(create_all(&*tokens, std::slice::from_ref(&token)).await?, NEW, "the first create");
        let ended = race(24, |number| {
            let (tokens, token) = (Arc::clone(&tokens), token.clone());
            async move { create_or_end(&*tokens, &token, number).await }
        })
        .await?;
        ensure_eq!(count(&ended, &true), 1, "calls that ended the token");
        ensure!(!tokens.exists(&token).await?, "a create brought the token back");
        let late = create_all(&*tokens, std::slice::from_ref(&token)).await?;
        ensure_eq!(late, GONE, "a create after all");
    }
    Ok(())
}

/// Ends the token or creates it repeatedly, depending on `number`. Returns whether this call ended the token.
async fn create_or_end(tokens: &dyn TokenStore, token: &TokenId, number: usize) -> Result<bool, Failure> {
    if number.is_multiple_of(8) {
        return ends(tokens, token, number / 8).await;
    }
    for _ in 0..4 {
        let report = create_all(tokens, std::slice::from_ref(token)).await?;
        ensure_eq!(report.created, 0, "tokens created again");
    }
    Ok(false)
}

pub(super) async fn racing_creators_find_their_own_tokens(world: &World) -> Verdict {
    for round in 0..world.profile().rounds {
        let (mine, other) = (world.tokens()?, super::tokens_of(&world.client().await?)?);
        race(24, |number| {
            let (mine, other) = (Arc::clone(&mine), Arc::clone(&other));
            async move {
                for token in batch(&format!("{round}-{number}"), 6)? {
                    create_all(&*mine, std::slice::from_ref(&token)).await?;
                    for reader in [&other, &mine] {
                        let exists = answered(|| reader.exists(&token)).await?;
                        ensure!(exists, "{token} was created, and then it does not exist");
                    }
                }
                Ok(())
            }
        })
        .await?;
    }
    Ok(())
}

/// Neither contention nor the end of other tokens makes a live token absent.
pub(super) async fn a_live_token_is_never_absent(world: &World) -> Verdict {
    let tokens = world.tokens()?;
    for round in 0..world.profile().rounds {
        let hot = Arc::new(batch(&format!("hot-{round}"), 2)?);
        create_all(&*tokens, &hot).await?;
        race(24, |number| {
            let (tokens, hot) = (Arc::clone(&tokens), Arc::clone(&hot));
            async move { read_and_churn(&*tokens, &hot, number).await }
        })
        .await?;
        for token in hot.iter() {
            ensure_eq!(consume(&*tokens, token, "first").await?, Consumed::Now, "consuming a token that lived");
        }
    }
    Ok(())
}

async fn read_and_churn(tokens: &dyn TokenStore, hot: &[TokenId], number: usize) -> Verdict {
    for turn in 0..6 {
        for token in hot {
            ensure!(answered(|| tokens.exists(token)).await?, "a live token is said to be absent");
        }
        let own = token(format!("{}-{number}-{turn}", hot[0]))?;
        ensure!(!answered(|| tokens.exists(&own)).await?, "an unknown token is said to be there");
        create_all(tokens, std::slice::from_ref(&own)).await?;
        ensure_eq!(consume(tokens, &own, "op").await?, Consumed::Now, "consuming one's own live token");
        create_all(tokens, hot).await?;
    }
    Ok(())
}
