//! Batches of any length and mixture.

use storagebox_core::{Consumed, Created, Discarded, TokenStore};

use super::{batch, op, token};
use crate::failure::{Verdict, ensure, ensure_eq};
use crate::world::World;

pub(super) async fn batches_of_any_length(world: &World) -> Verdict {
    let tokens = world.tokens()?;
    for count in [0, 1, 24, 25, 26, 99, 100, 101, 256] {
        let (all, total) = (batch(&format!("batch-{count}"), count)?, count as u64);
        let created = tokens.create_tokens(&all).await?;
        ensure_eq!(created, Created { created: total, ..Created::default() }, "a batch of {count}");
        for token in all.iter().rev().take(30) {
            ensure!(tokens.exists(token).await?, "{token} of a batch of {count} does not exist");
        }
        let again = tokens.create_tokens(&all).await?;
        ensure_eq!(again, Created { already_live: total, ..Created::default() }, "the batch of {count} again");
        let discarded = tokens.discard(&all).await?;
        ensure_eq!(discarded, Discarded { discarded: total, already_gone: 0 }, "discarding the {count}");
        for token in all.iter().rev().take(30) {
            ensure!(!tokens.exists(token).await?, "{token} of a batch of {count} is not gone");
        }
        let late = tokens.create_tokens(&all).await?;
        ensure_eq!(late, Created { gone: total, ..Created::default() }, "the {count} after their end");
    }
    a_long_batch(&*tokens).await
}

/// Creates a batch that is longer than a store may accept in one request.
async fn a_long_batch(tokens: &dyn TokenStore) -> Verdict {
    const COUNT: usize = 2_500;
    let (all, total) = (batch("long", COUNT)?, COUNT as u64);
    let created = tokens.create_tokens(&all).await?;
    ensure_eq!(created, Created { created: total, ..Created::default() }, "a batch of {COUNT}");
    let discarded = tokens.discard(&all).await?;
    ensure_eq!(discarded, Discarded { discarded: total, already_gone: 0 }, "discarding the {COUNT}");
    Ok(())
}

pub(super) async fn duplicates_in_one_call_count_once(world: &World) -> Verdict {
    let (tokens, all) = (world.tokens()?, batch("token", 4)?);
    let twice = [&all[..3], &all[..3], &all[..]].concat();
    let created = tokens.create_tokens(&twice).await?;
    ensure_eq!(created, Created { created: 4, ..Created::default() }, "4 tokens in 10 places");
    let again = tokens.create_tokens(&twice).await?;
    ensure_eq!(again, Created { already_live: 4, ..Created::default() }, "the same once more");
    let discarded = tokens.discard(&twice).await?;
    ensure_eq!(discarded, Discarded { discarded: 4, already_gone: 0 }, "discarding 4 tokens in 10 places");
    Ok(())
}

pub(super) async fn a_batch_reports_each_token_for_itself(world: &World) -> Verdict {
    let tokens = world.tokens()?;
    let [live, consumed, discarded, new] = ["live", "consumed", "discarded", "new"].map(token);
    let (live, consumed, discarded, new) = (live?, consumed?, discarded?, new?);
    tokens.create_tokens(&[live.clone(), consumed.clone(), discarded.clone()]).await?;
    let _ = tokens.consume(&consumed, &op("op")?).await?;
    tokens.discard(std::slice::from_ref(&discarded)).await?;
    let all = [discarded, live.clone(), consumed, new.clone()];
    let created = tokens.create_tokens(&all).await?;
    ensure_eq!(created, Created { created: 1, already_live: 1, gone: 2 }, "a new, a live and 2 gone tokens");
    for token in &all {
        let lives = [&live, &new].contains(&token);
        ensure_eq!(tokens.exists(token).await?, lives, "whether the {token} token lives");
    }
    let discarded = tokens.discard(&all[..3]).await?;
    ensure_eq!(discarded, Discarded { discarded: 1, already_gone: 2 }, "discarding all but the new one");
    ensure_eq!(tokens.consume(&new, &op("op")?).await?, Consumed::Now, "consuming the new one");
    Ok(())
}
