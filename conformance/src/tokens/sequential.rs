//! One caller, one call after another.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Consumed, Created, Discarded, Retention, TokenStore, async_trait};

use super::{GONE, LIVE, NEW, batch, create, op, token, tokens_of};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::lasting::{Lasting, MEMORY, ensure_lasts};
use crate::world::World;

pub(super) async fn every_client_sees_the_same(world: &World) -> Verdict {
    let (mine, other) = (world.tokens()?, tokens_of(&world.client().await?)?);
    let winner = op("winner")?;
    for token in batch("token", 20)? {
        for reader in [&mine, &other] {
            ensure_eq!(reader.exists(&token).await?, false, "a token before it is created");
        }
        create(&*mine, &token).await?;
        for reader in [&other, &mine] {
            ensure_eq!(reader.exists(&token).await?, true, "a live token");
        }
        ensure_eq!(other.consume(&token, &winner).await?, Consumed::Now, "another client's consume");
        for reader in [&mine, &other] {
            ensure_eq!(reader.exists(&token).await?, false, "a consumed token");
            ensure_eq!(reader.consume(&token, &winner).await?, Consumed::Again, "the winner through any client");
        }
    }
    Ok(())
}

pub(super) async fn created_tokens_are_seen_by_every_client(world: &World) -> Verdict {
    let (mine, other) = (world.tokens()?, tokens_of(&world.client().await?)?);
    for number in 0..10 {
        let tokens = batch(&format!("batch-{number}"), 12)?;
        let report = mine.create_tokens(&tokens).await?;
        ensure_eq!(report, Created { created: 12, ..Created::default() }, "a batch of 12");
        for token in &tokens {
            ensure!(other.exists(token).await?, "{token} was created, and another client does not see it");
        }
        let late = tokens_of(&world.client().await?)?;
        for token in &tokens {
            ensure!(late.exists(token).await?, "{token} was created, and a new client does not see it");
            ensure!(mine.exists(token).await?, "{token} was created, and its creator does not see it");
        }
    }
    Ok(())
}

pub(super) async fn live_tokens_do_not_expire(world: &World) -> Verdict {
    let (tokens, created) = (world.tokens()?, batch("token", 10)?);
    tokens.create_tokens(&created).await?;
    let decade = Duration::from_secs(10 * 365 * 24 * 3600);
    for _ in 0..3 {
        world.pass(if world.can_travel() { decade } else { world.short() }).await;
        world.upkeep().await?;
        for token in &created {
            ensure!(tokens.exists(token).await?, "{token} was live and expired");
        }
    }
    for token in &created {
        ensure_eq!(tokens.consume(token, &op("op")?).await?, Consumed::Now, "consuming an old token");
    }
    Ok(())
}

pub(super) async fn the_first_consumer_gets_now(world: &World) -> Verdict {
    let tokens = world.tokens()?;
    for token in batch("token", 5)? {
        create(&*tokens, &token).await?;
        ensure_eq!(tokens.consume(&token, &op("first")?).await?, Consumed::Now, "the first consumer");
        for name in ["second", "third", "second"] {
            ensure_eq!(tokens.consume(&token, &op(name)?).await?, Consumed::AlreadyGone, "the {name} consumer");
        }
        ensure_eq!(tokens.exists(&token).await?, false, "a consumed token");
    }
    Ok(())
}

/// For an unknown token, `consume` returns `AlreadyGone`. The token can be created and consumed later.
pub(super) async fn an_unknown_token_is_already_gone(world: &World) -> Verdict {
    let (tokens, early) = (world.tokens()?, op("early")?);
    for token in batch("token", 5)? {
        for _ in 0..2 {
            ensure_eq!(tokens.consume(&token, &early).await?, Consumed::AlreadyGone, "an unknown token");
        }
        ensure_eq!(tokens.exists(&token).await?, false, "an unknown token after that");
        ensure_eq!(create(&*tokens, &token).await?, NEW, "creating it after that");
        ensure_eq!(tokens.consume(&token, &early).await?, Consumed::Now, "consuming it then");
    }
    Ok(())
}

pub(super) async fn the_winners_retry_is_again(world: &World) -> Verdict {
    let (tokens, token, winner) = (world.tokens()?, token("token")?, op("winner")?);
    create(&*tokens, &token).await?;
    ensure_eq!(tokens.consume(&token, &winner).await?, Consumed::Now, "the winner");
    for number in 0..20 {
        let loser = op(format!("loser-{number}"))?;
        ensure_eq!(tokens.consume(&token, &loser).await?, Consumed::AlreadyGone, "a loser");
        ensure_eq!(tokens.consume(&token, &winner).await?, Consumed::Again, "the winner after {number} losers");
    }
    tokens.discard(std::slice::from_ref(&token)).await?;
    create(&*tokens, &token).await?;
    let fresh = tokens_of(&world.client().await?)?;
    ensure_eq!(fresh.consume(&token, &winner).await?, Consumed::Again, "the winner after a discard and a create");
    Ok(())
}

pub(super) async fn discarding_again_changes_nothing(world: &World) -> Verdict {
    let (tokens, created) = (world.tokens()?, batch("token", 4)?);
    tokens.create_tokens(&created).await?;
    let _ = tokens.consume(&created[0], &op("winner")?).await?;
    let first = tokens.discard(&created).await?;
    ensure_eq!(first, Discarded { discarded: 3, already_gone: 1 }, "4 tokens of which 1 is consumed");
    for _ in 0..2 {
        let again = tokens.discard(&created).await?;
        ensure_eq!(again, Discarded { discarded: 0, already_gone: 4 }, "the same 4 again");
    }
    for token in &created {
        ensure_eq!(tokens.exists(token).await?, false, "a token that is gone");
        ensure_eq!(tokens.consume(token, &op("late")?).await?, Consumed::AlreadyGone, "consuming it");
    }
    Ok(())
}

pub(super) async fn a_gone_token_is_not_created_again(world: &World) -> Verdict {
    let (tokens, winner) = (world.tokens()?, op("winner")?);
    let (consumed, discarded) = (token("consumed")?, token("discarded")?);
    for token in [&consumed, &discarded] {
        create(&*tokens, token).await?;
    }
    let _ = tokens.consume(&consumed, &winner).await?;
    tokens.discard(std::slice::from_ref(&discarded)).await?;
    let fresh = tokens_of(&world.client().await?)?;
    for client in [&tokens, &fresh, &tokens] {
        for token in [&consumed, &discarded] {
            ensure_eq!(create(&**client, token).await?, GONE, "creating the {token} token");
            ensure_eq!(client.exists(token).await?, false, "the {token} token after that");
            ensure_eq!(client.consume(token, &op("late")?).await?, Consumed::AlreadyGone, "consuming it again");
        }
    }
    ensure_eq!(tokens.consume(&consumed, &winner).await?, Consumed::Again, "the winner after that");
    Ok(())
}

pub(super) async fn discarding_an_unknown_token_fences_it(world: &World) -> Verdict {
    let (tokens, unknown) = (world.tokens()?, batch("unknown", 5)?);
    let report = tokens.discard(&unknown).await?;
    ensure_eq!(report, Discarded { discarded: 0, already_gone: 5 }, "discarding 5 unknown tokens");
    for token in &unknown {
        ensure_eq!(create(&*tokens, token).await?, GONE, "creating a token that was discarded before");
        ensure_eq!(tokens.exists(token).await?, false, "it after that");
        ensure_eq!(tokens.consume(token, &op("op")?).await?, Consumed::AlreadyGone, "consuming it");
    }
    Ok(())
}

/// A store remembers a gone token for at least the retention.
pub(super) async fn gone_tokens_are_remembered_for_the_retention(world: &World) -> Verdict {
    let (tokens, winner, known) = (world.tokens()?, op("winner")?, batch("token", 3)?);
    tokens.create_tokens(&known[..2]).await?;
    let _ = tokens.consume(&known[0], &winner).await?;
    tokens.discard(&known[1..]).await?;
    if let (true, Retention::For(week)) = (world.can_travel(), Retention::DEFAULT) {
        world.pass(week - world.short()).await;
    }
    world.upkeep().await?;
    for token in &known {
        ensure_eq!(create(&*tokens, token).await?, GONE, "creating a gone token after upkeep");
    }
    ensure_eq!(tokens.consume(&known[0], &winner).await?, Consumed::Again, "the winner after upkeep");
    Ok(())
}

/// Discarded tokens, whose end the store remembers.
struct Gone(Arc<dyn TokenStore>);

#[async_trait]
impl Lasting for Gone {
    async fn end(&self, name: &str) -> Verdict {
        self.0.discard(&[token(name)?]).await?;
        Ok(())
    }

    async fn is_known(&self, name: &str) -> Result<bool, Failure> {
        Ok(create(&*self.0, &token(name)?).await? == GONE)
    }
}

pub(super) async fn a_discard_is_remembered_to_the_end_of_the_retention(world: &World) -> Verdict {
    ensure_lasts(world, &Gone(world.tokens()?), MEMORY).await
}

pub(super) async fn a_token_discarded_anew_is_remembered_anew(world: &World) -> Verdict {
    let (tokens, unknown, known) = (world.tokens()?, token("unknown")?, token("known")?);
    create(&*tokens, &known).await?;
    let both = [unknown, known];
    tokens.discard(&both).await?;
    world.pass_memory().await;
    tokens.discard(&both).await?;
    world.pass(world.short()).await;
    world.upkeep().await?;
    for token in &both {
        ensure_eq!(create(&*tokens, token).await?, GONE, "creating {token:?}, which was discarded again");
    }
    Ok(())
}

pub(super) async fn creating_a_live_token_changes_nothing(world: &World) -> Verdict {
    let (tokens, token) = (world.tokens()?, token("token")?);
    ensure_eq!(create(&*tokens, &token).await?, NEW, "creating a token");
    let fresh = tokens_of(&world.client().await?)?;
    for client in [&tokens, &fresh, &tokens] {
        ensure_eq!(create(&**client, &token).await?, LIVE, "creating a live token");
        ensure!(tokens.exists(&token).await?, "the token is gone after it was created again");
    }
    ensure_eq!(tokens.consume(&token, &op("first")?).await?, Consumed::Now, "consuming it");
    ensure_eq!(tokens.consume(&token, &op("second")?).await?, Consumed::AlreadyGone, "consuming it once more");
    Ok(())
}

pub(super) async fn absent_is_an_answer_that_leaves_no_trace(world: &World) -> Verdict {
    let tokens = world.tokens()?;
    for token in batch("token", 5)? {
        for _ in 0..3 {
            ensure_eq!(tokens.exists(&token).await?, false, "an unknown token");
        }
        ensure_eq!(create(&*tokens, &token).await?, NEW, "creating a token that was looked for");
        for _ in 0..3 {
            ensure_eq!(tokens.exists(&token).await?, true, "a live token");
        }
        ensure_eq!(tokens.consume(&token, &op("op")?).await?, Consumed::Now, "consuming one that was looked for");
    }
    Ok(())
}

/// A closed client may continue to work or return errors, but it must not report a live token as absent.
pub(super) async fn a_closed_client_never_says_absent(world: &World) -> Verdict {
    let (mine, live) = (world.tokens()?, batch("token", 3)?);
    mine.create_tokens(&live).await?;
    let client = world.client().await?;
    let closed = tokens_of(&client)?;
    client.close().await?;
    for token in &live {
        if let Ok(exists) = closed.exists(token).await {
            ensure!(exists, "a closed client says that a live token is absent");
        }
        if let Ok(consumed) = closed.consume(token, &op("op")?).await {
            ensure_eq!(consumed, Consumed::Now, "a closed client consumes a live token");
        }
    }
    Ok(())
}
