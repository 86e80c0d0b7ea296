//! Calls whose answers are lost.

use std::sync::Arc;

use storagebox_conformance::{Cut, Proxy};
use storagebox_core::{Chosen, Commit, EntityLedger, Registered, Result, TokenStore};
use storagebox_testkit::checks::entities::{commit_of, committed, entry, joined, key};
use storagebox_testkit::checks::id;

use crate::scene::with_place;
use crate::support::{Place, failed};

/// A client behind a proxy, its tokens, and its entity ledger, which joins these tokens.
struct Far {
    proxy: Proxy,
    entities: Arc<dyn EntityLedger>,
    tokens: Arc<dyn TokenStore>,
}

impl Far {
    /// Opens the store and makes every call once, so that the server knows the scripts.
    async fn of(place: &Place) -> Result<Self> {
        // Otherwise the first answer would only say that the script is unknown.
        let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
        let (entities, tokens) = joined(&place.builder()?.connect(&place.server.url_at(proxy.addr()))?)?;
        let far = Self { proxy, entities, tokens };
        far.of_tokens("warm").await?;
        far.of_entries("warm too").await?;
        Ok(far)
    }

    /// Commits a message that consumes one token and creates another, and a message that only consumes a token.
    async fn of_tokens(&self, name: &str) -> Result<()> {
        for has_entry in [true, false] {
            let name = format!("{name} {has_entry}");
            let (its, commit) = (id(&name), commit_of(&*self.entities, &name).await?);
            self.tokens.create_tokens(std::slice::from_ref(&its)).await?;
            let create = if has_entry { vec![id(&format!("{name} out"))] } else { vec![] };
            let entry = commit.entry.clone().filter(|_| has_entry);
            let commit = Commit { consume: Some(its.clone()), create, entry, ..commit };
            committed(&*self.entities, &commit).await?;
            assert!(!self.tokens.exists(&its).await?);
        }
        assert!(self.tokens.exists(&id(&format!("{name} true out"))).await?);
        Ok(())
    }

    /// Makes each call on an entry, from its commit to its removal.
    async fn of_entries(&self, name: &str) -> Result<()> {
        let (entry, attempt) = (entry(name), id(&format!("{name} second")));
        committed(&*self.entities, &commit_of(&*self.entities, name).await?).await?;
        assert_eq!(self.entities.register(&entry, &attempt).await?, Registered::Registered);
        let Chosen::Chosen(chosen) = self.entities.choose(&entry, &attempt).await? else {
            return Err(failed("no entry"));
        };
        assert_eq!((chosen.chosen.as_ref(), chosen.attempts.len()), (Some(&attempt), 2));
        // Either this call removed the entry, or an earlier attempt of it did.
        self.entities.remove(&entry).await?;
        assert!(self.entities.open(&key(), &id(name), None).await?.entry.is_none());
        Ok(())
    }
}

/// A call has the same outcome if the request or the answer of its first attempt is lost.
#[test]
fn a_call_is_retried_after_a_lost_request_or_answer() -> Result<()> {
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
}
