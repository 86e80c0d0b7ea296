//! Lost replies, requests that land late or twice.

use std::sync::Arc;

use fastrand::Rng;
use storagebox_core::{Consumed, Created, Discarded, ErrorKind, Result, TokenId, TokenStore};

use super::{GONE, answered, batch, create, op, token};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::world::World;

const LOSSES: [Fate; 3] = [Fate::RequestLost, Fate::ReplyLost, Fate::Late];

/// Returns a client whose first call has the fault `fate`, and the link between the client and the token store.
fn linked(tokens: &Arc<dyn TokenStore>, fate: Fate) -> (Arc<dyn TokenStore>, Arc<Link>) {
    let link = Link::script([fate]);
    (link.before(tokens), link)
}

fn ensure_lost<T: std::fmt::Debug>(answer: Result<T>) -> Verdict {
    ensure_matches!(answer, Err(error) if error.kind() == ErrorKind::OutcomeUnknown, "a call whose reply is lost");
    Ok(())
}

pub(super) async fn a_create_whose_reply_is_lost_is_finished_by_a_retry(world: &World) -> Verdict {
    let tokens = world.tokens()?;
    for fate in LOSSES {
        let (far, link) = linked(&tokens, fate);
        let token = token(format!("{fate:?}"))?;
        ensure_lost(create(&*far, &token).await)?;
        let retried = create(&*far, &token).await?;
        ensure_eq!(retried.created + retried.already_live, 1, "tokens that live after a retry");
        ensure!(tokens.exists(&token).await?, "the token does not live after a retry of {fate:?}");
        link.land().await;
        ensure_eq!(tokens.consume(&token, &op("first")?).await?, Consumed::Now, "consuming it after {fate:?}");
        ensure_eq!(tokens.consume(&token, &op("second")?).await?, Consumed::AlreadyGone, "once more");
    }
    Ok(())
}

/// If the reply to a batch is lost, each token of the batch may exist or not. A retry completes the batch. A request
/// that lands later changes nothing.
pub(super) async fn a_batch_without_a_reply_may_exist_now_or_later(world: &World) -> Verdict {
    let tokens = world.tokens()?;
    for fate in LOSSES {
        let (far, link) = linked(&tokens, fate);
        let all = batch(&format!("{fate:?}"), 30)?;
        ensure_lost(far.create_tokens(&all).await)?;
        let mut live = 0;
        for token in &all {
            live += u64::from(tokens.exists(token).await?);
        }
        let retried = far.create_tokens(&all).await?;
        let expected = Created { created: 30 - live, already_live: live, gone: 0 };
        ensure_eq!(retried, expected, "a retry after {fate:?} with {live} tokens there");
        tokens.discard(&all[..10]).await?;
        for token in &all[10..20] {
            let _ = tokens.consume(token, &op("op")?).await?;
        }
        link.land().await;
        for (number, token) in all.iter().enumerate() {
            ensure_eq!(tokens.exists(token).await?, number >= 20, "token {number} in the end, after {fate:?}");
        }
    }
    Ok(())
}

pub(super) async fn a_consume_whose_reply_is_lost_is_again(world: &World) -> Verdict {
    let (tokens, winner) = (world.tokens()?, op("winner")?);
    for (fate, expected) in [(Fate::RequestLost, Consumed::Now), (Fate::ReplyLost, Consumed::Again)] {
        let (far, _) = linked(&tokens, fate);
        let token = token(format!("{fate:?}"))?;
        create(&*tokens, &token).await?;
        ensure_lost(far.consume(&token, &winner).await)?;
        ensure_eq!(far.consume(&token, &winner).await?, expected, "a consume after {fate:?}, once more");
        let other = tokens.consume(&token, &op("other")?).await?;
        ensure_eq!(other, Consumed::AlreadyGone, "another consumer after that");
        ensure_eq!(far.consume(&token, &winner).await?, Consumed::Again, "the winner in the end");
    }
    Ok(())
}

pub(super) async fn a_consume_that_lands_late_or_twice_takes_nothing_from_another(world: &World) -> Verdict {
    let (tokens, ada, bob) = (world.tokens()?, op("ada")?, op("bob")?);
    let late = token("late")?;
    create(&*tokens, &late).await?;
    let (far, link) = linked(&tokens, Fate::Late);
    ensure_lost(far.consume(&late, &ada).await)?;
    ensure_eq!(tokens.consume(&late, &bob).await?, Consumed::Now, "another consumer before the late one");
    link.land().await;
    ensure_eq!(tokens.consume(&late, &bob).await?, Consumed::Again, "the winner after a late consume");
    ensure_eq!(tokens.consume(&late, &ada).await?, Consumed::AlreadyGone, "the late consumer");

    let twice = token("twice")?;
    create(&*tokens, &twice).await?;
    let (far, link) = linked(&tokens, Fate::Twice);
    ensure_eq!(far.consume(&twice, &ada).await?, Consumed::Now, "a consume that will land again");
    link.land().await;
    ensure_eq!(tokens.consume(&twice, &bob).await?, Consumed::AlreadyGone, "another consumer after that");
    ensure_eq!(tokens.consume(&twice, &ada).await?, Consumed::Again, "the winner after that");
    Ok(())
}

pub(super) async fn a_discard_whose_reply_is_lost_is_repeated(world: &World) -> Verdict {
    let tokens = world.tokens()?;
    for fate in LOSSES {
        let (far, link) = linked(&tokens, fate);
        let all = batch(&format!("{fate:?}"), 5)?;
        tokens.create_tokens(&all[..4]).await?;
        ensure_lost(far.discard(&all).await)?;
        let retried = far.discard(&all).await?;
        ensure_eq!(retried.discarded + retried.already_gone, 5, "tokens that the retry reports");
        link.land().await;
        let again = tokens.discard(&all).await?;
        ensure_eq!(again, Discarded { discarded: 0, already_gone: 5 }, "a discard after the retry");
        let created = tokens.create_tokens(&all).await?;
        ensure_eq!(created, Created { gone: 5, ..Created::default() }, "creating them after {fate:?}");
    }
    Ok(())
}

pub(super) async fn a_create_that_lands_after_the_end_creates_nothing(world: &World) -> Verdict {
    let tokens = world.tokens()?;
    for fate in [Fate::Late, Fate::Twice] {
        for end in ["consumed", "discarded", "fenced"] {
            let (far, link) = linked(&tokens, fate);
            let token = token(format!("{end} {fate:?}"))?;
            // Whether this call is answered does not matter. The case checks what lands afterwards.
            let _ = create(&*far, &token).await;
            if end != "fenced" {
                create(&*tokens, &token).await?;
            }
            match end {
                "consumed" => tokens.consume(&token, &op("winner")?).await.map(|_| ())?,
                _ => tokens.discard(std::slice::from_ref(&token)).await.map(|_| ())?,
            }
            link.land().await;
            ensure!(!tokens.exists(&token).await?, "{token}: the create that landed brought it back");
            ensure_eq!(create(&*tokens, &token).await?, GONE, "{token}: creating it after that");
            let other = tokens.consume(&token, &op("other")?).await?;
            ensure_eq!(other, Consumed::AlreadyGone, "{token}: consuming it after that");
        }
    }
    Ok(())
}

/// Tokens are created, consumed by two workers and discarded under faults, and each call is repeated until it is
/// answered. In the end, the state of the store agrees with every answer.
pub(super) async fn random_faults_have_one_winner(world: &World) -> Verdict {
    let (tokens, mut rng) = (world.tokens()?, world.rng());
    for round in 0..world.profile().rounds {
        let link = Link::random(rng.u64(..), 30);
        let far: Arc<dyn TokenStore> = link.before(&tokens);
        let mut ends = Vec::new();
        for token in batch(&format!("round-{round}"), 30)? {
            let created = answered(|| far.create_tokens(std::slice::from_ref(&token))).await?;
            ensure_eq!(created.gone, 0, "gone tokens of a create before any end");
            ends.push((live(&*far, &token, &mut rng).await?, token));
            if rng.u8(..4) == 0 {
                link.land().await;
            }
        }
        link.heal();
        link.land().await;
        for (end, token) in &ends {
            check_end(&*tokens, token, end).await.map_err(|failure| failure.during(format!("{end:?}")))?;
        }
    }
    Ok(())
}

/// The end of a token, according to the answers.
#[derive(Debug)]
enum End {
    Lives,
    Discarded,
    Consumed { winner: &'static str, loser: &'static str },
}

async fn live(tokens: &dyn TokenStore, token: &TokenId, rng: &mut Rng) -> Result<End, Failure> {
    match rng.u8(..6) {
        0 => Ok(End::Lives),
        1 => {
            answered(|| tokens.discard(std::slice::from_ref(token))).await?;
            Ok(End::Discarded)
        }
        _ => {
            let workers = [op("ada")?, op("bob")?];
            let [ada, bob] = [
                answered(|| tokens.consume(token, &workers[0])).await?,
                answered(|| tokens.consume(token, &workers[1])).await?,
            ];
            ensure_matches!((ada, bob), (Consumed::Now | Consumed::Again, Consumed::AlreadyGone), "two workers");
            Ok(End::Consumed { winner: "ada", loser: "bob" })
        }
    }
}

async fn check_end(tokens: &dyn TokenStore, token: &TokenId, end: &End) -> Verdict {
    let lives = matches!(end, End::Lives);
    ensure_eq!(tokens.exists(token).await?, lives, "whether the token lives in the end");
    if let End::Consumed { winner, loser } = end {
        ensure_eq!(tokens.consume(token, &op(*winner)?).await?, Consumed::Again, "the winner in the end");
        ensure_eq!(tokens.consume(token, &op(*loser)?).await?, Consumed::AlreadyGone, "the loser in the end");
    }
    let expected = if lives { Consumed::Now } else { Consumed::AlreadyGone };
    ensure_eq!(tokens.consume(token, &op("late")?).await?, expected, "a late consumer");
    ensure_eq!(create(tokens, token).await?, GONE, "creating a token that ended");
    Ok(())
}
