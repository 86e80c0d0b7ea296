//! Tokens that are used once and never created again.

use storagebox::{Consumed, Result, Store, Tokens};

use super::wrong;
use crate::caller::{Caller, Wrong};

pub(super) struct Using(Tokens);

impl Using {
    pub(super) fn of(store: &Store) -> Result<Self> {
        store.tokens("soak-tokens").map(Self)
    }

    pub(super) async fn one(&self, caller: &mut Caller) -> Result<(), Wrong> {
        let (token, own, other) = (caller.fresh(), caller.fresh(), caller.fresh());
        let create = || self.0.create([token.as_str()]);
        match caller.answer("create", create).await? {
            created if created.created + created.already_live == 1 => {}
            other => return Err(wrong("create", other)),
        }
        let consume = async |op: &str| caller.answer("consume", || self.0.consume(token.as_str()).by(op)).await;
        match (consume(&own).await?, consume(&own).await?, consume(&other).await?) {
            (Consumed::Now | Consumed::Again, Consumed::Again, Consumed::AlreadyGone) => {}
            others => return Err(wrong("three consumers of a token", others)),
        }
        match caller.answer("create again", create).await? {
            created if created.gone == 1 => Ok(()),
            other => Err(wrong("a token that is gone", other)),
        }
    }
}
