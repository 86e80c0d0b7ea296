//! The cost of a call, and the retry of a call whose answer is lost.

use std::sync::Arc;

use storagebox_conformance::{Cut, Proxy};
use storagebox_core::{Chosen, Commit, Committed, EntityLedger, Registered, Result, TokenStore};
use storagebox_testkit::checks::round_trips::Metered;

use super::{commit_of, entry, joined, key, message, op, split, token};
use crate::scene::with_place;
use crate::support::{Place, failed};

async fn every_call(metered: &mut Metered, entities: &dyn EntityLedger, name: &str) -> Result<()> {
    let (commit, entry) = (commit_of(entities, name).await?, entry(name)?);
    let _ = metered.note("commit", entities.commit(&commit)).await?;
    let _ = metered.note("commit, again", entities.commit(&commit)).await?;
    metered.note("open", entities.open(&entry.key, &entry.message, None)).await?;
    let _ = metered.note("register", entities.register(&entry, &op("second")?)).await?;
    let _ = metered.note("choose", entities.choose(&entry, &op("second")?)).await?;
    metered.note("pending", entities.pending(None, 10)).await?;
    metered.note("remove", entities.remove(&entry)).await.map(drop)
}

#[tokio::test]
async fn each_call_is_one_round_trip_on_a_warm_connection() -> Result<()> {
    with_place(async |place| {
        let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
        let store = place.builder()?.connect(&place.server.url_at(proxy.addr()))?;
        let (entities, mut metered) = (split(&store)?, Metered::new(proxy, store));
        every_call(&mut metered, &*entities, "first").await?;
        metered.noted.clear();
        every_call(&mut metered, &*entities, "second").await?;
        assert!(metered.noted.len() == 7 && metered.noted.iter().all(|(_, trips)| *trips == 1), "{:?}", metered.noted);
        Ok(())
    })
    .await
}

/// A client behind a proxy, with a ledger that joins its tokens.
struct Far {
    proxy: Proxy,
    entities: Arc<dyn EntityLedger>,
    tokens: Arc<dyn TokenStore>,
}

impl Far {
    /// Connects, and makes the server learn the scripts: the answer to an unknown script is not the answer to a call.
    async fn of(place: &Place) -> Result<Self> {
        let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
        let (entities, tokens) = joined(&place.builder()?.connect(&place.server.url_at(proxy.addr()))?)?;
        let far = Self { proxy, entities, tokens };
        far.of_tokens("warm").await?;
        far.of_entries("warm too").await?;
        Ok(far)
    }

    /// Makes a commit that consumes and creates tokens, and a commit that only consumes a token.
    async fn of_tokens(&self, name: &str) -> Result<()> {
        for has_entry in [true, false] {
            let name = format!("{name} {has_entry}");
            let (its, commit) = (token(&name)?, commit_of(&*self.entities, &name).await?);
            self.tokens.create_tokens(std::slice::from_ref(&its)).await?;
            let create = if has_entry { vec![token(&format!("{name} out"))?] } else { vec![] };
            let entry = commit.entry.clone().filter(|_| has_entry);
            let commit = Commit { consume: Some(its.clone()), create, entry, ..commit };
            assert_eq!(self.entities.commit(&commit).await?, Committed::Committed, "{commit:?}");
            assert!(!self.tokens.exists(&its).await?);
        }
        assert!(self.tokens.exists(&token(&format!("{name} true out"))?).await?);
        Ok(())
    }

    /// Makes the calls of an entry, from its commit to its removal.
    async fn of_entries(&self, name: &str) -> Result<()> {
        let (entry, attempt) = (entry(name)?, op(&format!("{name} second"))?);
        let commit = commit_of(&*self.entities, name).await?;
        assert_eq!(self.entities.commit(&commit).await?, Committed::Committed);
        assert_eq!(self.entities.register(&entry, &attempt).await?, Registered::Registered);
        let Chosen::Chosen(chosen) = self.entities.choose(&entry, &attempt).await? else {
            return Err(failed("no entry"));
        };
        assert_eq!((chosen.chosen.as_ref(), chosen.attempts.len()), (Some(&attempt), 2));
        // Either this call removed the entry, or an earlier attempt of it did.
        self.entities.remove(&entry).await?;
        assert!(self.entities.open(&key()?, &message(name)?, None).await?.entry.is_none());
        Ok(())
    }
}

/// The second attempt finds the effect of the first one, or has the effect itself.
#[tokio::test]
async fn a_call_whose_request_or_answer_was_lost_is_made_again() -> Result<()> {
    with_place(async |place| {
        let (far, mut cuts) = (Far::of(place).await?, 0);
        for (number, cut) in
            [Cut::RequestLost, Cut::HalfRequest, Cut::ReplyLost, Cut::HalfReply].into_iter().enumerate()
        {
            for passing in 0..8 {
                let name = format!("cut-{number}-{passing}");
                far.proxy.arm(cut, &name, passing);
                far.of_tokens(&name).await?;
                far.of_entries(&format!("{name} too")).await?;
                far.proxy.disarm();
                assert!(far.proxy.cuts() > cuts, "{name}");
                cuts = far.proxy.cuts();
            }
        }
        Ok(())
    })
    .await
}
