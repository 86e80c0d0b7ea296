//! The namespace of a command: the first argument of every command on a part.

use clap::Args;
use storagebox::Error;
use storagebox::values::plain;
use storagebox::values::{MAX_ID_BYTES, Namespace};

#[derive(Clone, Debug, Args)]
pub(crate) struct OfNamespace {
    /// Namespace: the name of a bank, or of a set of records, tokens, counters or values
    #[arg(value_name = "NAMESPACE", value_parser = namespace)]
    pub name: Namespace,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum NoNamespace {
    #[error("a namespace has 1 to {MAX_ID_BYTES} bytes, and no U+0000")]
    Length(#[source] Error),
    #[error("{}", .0.message())]
    Odd(Error),
}

/// Parses a namespace, and refuses a name that is not [`plain`], because the name would be another namespace than it
/// seems.
pub(super) fn namespace(text: &str) -> Result<Namespace, NoNamespace> {
    let namespace = Namespace::new(text).map_err(NoNamespace::Length)?;
    plain("the namespace", text).map(|()| namespace).map_err(NoNamespace::Odd)
}
