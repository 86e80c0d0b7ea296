//! The failure of a command whose other calls may have changed the store.

use super::{Failure, cause_of};
use crate::doubt::Doubt;
use crate::step::help_in_doubt;

impl Failure {
    /// Adds to the failure of a command what its other calls may have done.
    pub(crate) fn after(self, doubt: Option<Doubt>) -> Self {
        match (self, doubt) {
            (Self::Interrupted(_), doubt) => Self::Interrupted(doubt),
            (Self::Store(error), Some(doubt)) => {
                let doubt = doubt.max(Doubt::of(&error));
                // Unlike the kind, the texts still say why this call failed.
                let (cause, help) = (cause_of(&error), help_in_doubt(&error, doubt));
                let error = error.after_unresolved();
                let error = if doubt == Doubt::Twice { error.unrepeatable() } else { error };
                Self::InDoubt { error, cause, help }
            }
            (failure, _) => failure,
        }
    }
}
