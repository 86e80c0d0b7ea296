//! V-1: which texts are valid, and how others are refused.

use storagebox_core::{
    ClaimId, DedupId, Error, ErrorKind, Fingerprint, Item, Key, MAX_ID_BYTES, MAX_ITEM_BYTES, Namespace, OpId, Reason,
    Result, TokenId, WriterId,
};

use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::values::longest;
use crate::world::World;

/// A kind of text: the name of its field, its limit, and its constructor.
struct Kind {
    field: &'static str,
    limit: usize,
    make: fn(String) -> Result<String>,
}

macro_rules! kind {
    ($name:ident, $field:literal, $limit:expr) => {
        Kind { field: $field, limit: $limit, make: |text| Ok($name::new(text)?.as_str().to_owned()) }
    };
}

fn kinds() -> [Kind; 10] {
    [
        kind!(Item, "item", MAX_ITEM_BYTES),
        kind!(ClaimId, "claim", MAX_ID_BYTES),
        kind!(DedupId, "dedup id", MAX_ID_BYTES),
        kind!(OpId, "op", MAX_ID_BYTES),
        kind!(TokenId, "token", MAX_ID_BYTES),
        kind!(Key, "key", MAX_ID_BYTES),
        kind!(Namespace, "namespace name", MAX_ID_BYTES),
        kind!(WriterId, "writer", MAX_ID_BYTES),
        kind!(Fingerprint, "fingerprint", MAX_ID_BYTES),
        kind!(Reason, "reason", MAX_ID_BYTES),
    ]
}

pub(super) async fn a_text_has_one_byte_to_its_limit(_: &World) -> Verdict {
    for Kind { field, limit, make } in kinds() {
        let wide = "é".repeat(limit / 2);
        for text in ["x".to_owned(), longest("x", limit), wide] {
            ensure_eq!(make(text.clone())?, text, "a {field} of {} bytes", text.len());
        }
    }
    Ok(())
}

pub(super) async fn a_text_out_of_its_limits_is_refused_by_name(_: &World) -> Verdict {
    for Kind { field, limit, make } in kinds() {
        let characters = format!("{}x", "é".repeat(limit / 2));
        for text in [String::new(), longest("secret", limit + 1), characters] {
            let length = text.len();
            let error = ensure_matches!(make(text), Err(error) => error, "a {field} of {length} bytes");
            ensure_names(&error, "field", field)?;
            ensure_names(&error, "limit", &limit.to_string())?;
            ensure_names(&error, "bytes", &length.to_string())?;
        }
    }
    Ok(())
}

pub(super) async fn u_0000_is_refused_wherever_it_stands(_: &World) -> Verdict {
    for Kind { field, make, .. } in kinds() {
        for text in ["\0", "\0secret", "secret\0", "sec\0ret"] {
            let error = ensure_matches!(make(text.to_owned()), Err(error) => error, "a {field} of {text:?}");
            ensure_names(&error, "field", field)?;
        }
    }
    Ok(())
}

/// Checks that the error is `InvalidInput`, has this value under `key`, and shows nothing of the text.
fn ensure_names(error: &Error, key: &str, value: &str) -> Verdict {
    ensure_eq!(error.kind(), ErrorKind::InvalidInput, "the kind of {error}");
    let found = error.context().find(|(name, _)| *name == key).map(|(_, value)| value);
    ensure_eq!(found, Some(value), "the {key} in the context of {error}");
    let shown = format!("{error} {error:?}");
    ensure!(!shown.contains("secret"), "the refused text is shown: {shown}");
    Ok(())
}
