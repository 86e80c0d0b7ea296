//! Incoming and outgoing tokens in different namespaces, or only one of the two joined.

use storagebox_core::{Commit, Committed, Joins, Namespace};

use super::{Messaged, entities_of, token};
use crate::failure::{Verdict, ensure, ensure_eq};
use crate::world::World;

/// A ledger consumes and creates tokens only in the namespaces that it joins. The order of the namespaces does not
/// matter.
pub(in super::super) async fn each_join_is_of_its_own_namespace(world: &World) -> Verdict {
    let (one, other): (Namespace, Namespace) = ("one".parse()?, "other".parse()?);
    for (incoming, outgoing) in [(&one, &other), (&other, &one)] {
        for (consumes, creates) in [(true, true), (true, false), (false, true)] {
            let joins =
                Joins { incoming: consumes.then(|| incoming.clone()), outgoing: creates.then(|| outgoing.clone()) };
            exchanges(world, (incoming, outgoing), &joins)
                .await
                .map_err(|failure| failure.during(format!("{joins:?}")))?;
        }
    }
    Ok(())
}

/// Checks commits that consume a token of one namespace and create the token of the same name in another namespace.
async fn exchanges(world: &World, (incoming, outgoing): (&Namespace, &Namespace), joins: &Joins) -> Verdict {
    let (came, goes) = (world.store().token_store(incoming)?, world.store().token_store(outgoing)?);
    let entities = world.store().entity_ledger(&"entities".parse()?, joins)?;
    ensure_eq!(entities.joins(), *joins, "what the ledger joins");
    let (name, consumes, creates) = (format!("{joins:?}"), joins.incoming.is_some(), joins.outgoing.is_some());
    let (one, its) = (Messaged::new("entity", &name)?, token(name)?);
    came.create_tokens(std::slice::from_ref(&its)).await?;
    let commit = Commit {
        consume: consumes.then(|| its.clone()),
        create: creates.then(|| its.clone()).into_iter().collect(),
        ..one.commit(&*entities).await?
    };
    if consumes {
        let opened = entities.open(&one.key, &one.message, Some(&its)).await?;
        ensure_eq!(opened.token_is_live, Some(true), "an incoming token that lives");
    }
    ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "a commit");
    ensure_eq!((came.exists(&its).await?, goes.exists(&its).await?), (!consumes, creates), "the two tokens");
    // The joins of a ledger are not stored as options of its namespace.
    let split = entities_of(world.store())?;
    ensure!(split.remove(&one.entry()?).await?, "a ledger that joins nothing does not find the entry");
    Ok(())
}
