//! Statements of the SQL interface as data, for programs with another driver than sqlx.
//!
//! A program sends a statement within its own transaction, so that what the store does is committed together with the
//! program's rows, or not at all. Each statement returns rows of the function that it calls; `docs/SQL.md` of the
//! repository describes the functions, their outcomes and what they raise. Where the function has an interval, the
//! statement has seconds (`double precision`), which every driver can bind and read.
//!
//! # Example
//!
//! ```
//! # fn main() -> storagebox_core::Result<()> {
//! use storagebox_core::Hold;
//! use storagebox_postgres::sql::{self, Arg, Schema};
//!
//! let statement = sql::assign(&Schema::default(), &"vouchers".parse()?, &"ada".parse()?, Hold::Forever);
//! assert!(statement.text.contains("FROM storagebox.assign($1::pg_catalog.text,"));
//! assert_eq!(statement.args[1], Arg::Text(Some("ada".to_owned())));
//! # Ok(()) }
//! ```

use std::fmt;
use std::time::Duration;

use storagebox_core::{
    Bounds, ClaimId, DedupId, Fingerprint, Hold, Key, Lease, Namespace, OpId, Payload, Retention, Stamp, TokenId,
};

pub use crate::config::Schema;

/// A statement and its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The text, with `$1`, `$2` and so on in place of the arguments. It depends on the function and the schema alone,
    /// so a driver can keep it prepared.
    pub text: String,
    /// The arguments, in the order of their numbers.
    pub args: Vec<Arg>,
}

/// An argument of a statement. `None` is null. `Debug` shows only the length of bytes (V-4).
#[derive(Clone, PartialEq)]
pub enum Arg {
    /// A `text`: a name or an id.
    Text(Option<String>),
    /// A `bigint`.
    Int(Option<i64>),
    /// A `double precision`: a duration in seconds.
    Seconds(Option<f64>),
    /// A `bytea`.
    Bytes(Vec<u8>),
}

impl fmt::Debug for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({text:?})"),
            Self::Int(number) => write!(f, "Int({number:?})"),
            Self::Seconds(seconds) => write!(f, "Seconds({seconds:?})"),
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
        }
    }
}

const HELD: &str = "outcome, item, pg_catalog.date_part('epoch', remaining) AS remaining";
const RECORDED: &str = "outcome, value, version, pg_catalog.date_part('epoch', remaining) AS remaining";
const BEGUN: &str = "outcome, fence, pg_catalog.date_part('epoch', remaining) AS remaining, value, version";
const ALL: &str = "*";

/// Gives a claim an item of a bank. Returns `outcome`, `item` and `remaining`.
pub fn assign(schema: &Schema, bank: &Namespace, claim: &ClaimId, hold: Hold) -> Statement {
    let hold = match hold {
        Hold::Forever => None,
        Hold::For(duration) => Some(duration),
    };
    call(schema, "assign", HELD, [text(bank), text(claim), seconds(hold)])
}

/// Makes the hold of a claim permanent. Returns `outcome` and `item`.
pub fn confirm(schema: &Schema, bank: &Namespace, claim: &ClaimId) -> Statement {
    call(schema, "confirm", ALL, [text(bank), text(claim)])
}

/// Ends a claim and frees its item. Returns `outcome`.
pub fn release(schema: &Schema, bank: &Namespace, claim: &ClaimId) -> Statement {
    call(schema, "release", ALL, [text(bank), text(claim)])
}

/// Records a value for an id. Returns `outcome`, `value`, `version` and `remaining`.
pub fn record(
    schema: &Schema,
    records: &Namespace,
    id: &DedupId,
    value: &Payload,
    op: &OpId,
    retention: Retention,
) -> Statement {
    call(schema, "record", RECORDED, [text(records), text(id), bytes(value), text(op), kept(retention)])
}

/// Begins the lease of an id. Returns `outcome`, `fence`, `remaining`, `value` and `version`.
pub fn begin_lease(
    schema: &Schema,
    records: &Namespace,
    id: &DedupId,
    op: &OpId,
    term: Duration,
    fingerprint: Option<&Fingerprint>,
) -> Statement {
    let fingerprint = Arg::Text(fingerprint.map(|fingerprint| fingerprint.as_str().to_owned()));
    call(schema, "begin_lease", BEGUN, [text(records), text(id), text(op), seconds(Some(term)), fingerprint])
}

/// Records the result of a lease, or ends the transaction if the lease is over (`SB004`). Returns `outcome`, `value`
/// and `version`.
pub fn complete_lease(
    schema: &Schema,
    records: &Namespace,
    lease: &Lease,
    result: &Payload,
    retention: Retention,
) -> Statement {
    let fence = Arg::Int(i64::try_from(lease.fence.number()).ok());
    let args = [text(records), text(&lease.id), text(&lease.op), fence, bytes(result), kept(retention)];
    call(schema, "complete_lease", ALL, args)
}

/// Creates a token. Returns `outcome`.
pub fn create_token(schema: &Schema, tokens: &Namespace, token: &TokenId) -> Statement {
    call(schema, "create_token", ALL, [text(tokens), text(token)])
}

/// Consumes a token. Returns `outcome`.
pub fn consume(schema: &Schema, tokens: &Namespace, token: &TokenId, op: &OpId) -> Statement {
    call(schema, "consume", ALL, [text(tokens), text(token), text(op)])
}

/// Adds `delta` to a counter. Returns `outcome` and `value`.
pub fn add_to_counter(
    schema: &Schema,
    counters: &Namespace,
    key: &Key,
    op: &OpId,
    delta: i64,
    bounds: Bounds,
) -> Statement {
    let [delta, floor, ceiling] = [Some(delta), bounds.floor(), bounds.ceiling()].map(Arg::Int);
    call(schema, "add_to_counter", ALL, [text(counters), text(key), text(op), delta, floor, ceiling])
}

/// Writes an ordered value. Returns `outcome`, `current_at`, `current_writer` and `horizon`.
pub fn put(schema: &Schema, ordered: &Namespace, key: &Key, value: &Payload, stamp: &Stamp) -> Statement {
    let args = [text(ordered), text(key), bytes(value), Arg::Int(Some(stamp.at)), text(&stamp.writer)];
    call(schema, "put", ALL, args)
}

fn text(value: &impl AsRef<str>) -> Arg {
    Arg::Text(Some(value.as_ref().to_owned()))
}

fn bytes(value: &Payload) -> Arg {
    Arg::Bytes(value.as_bytes().to_vec())
}

fn seconds(duration: Option<Duration>) -> Arg {
    Arg::Seconds(duration.map(|duration| duration.as_secs_f64()))
}

fn kept(retention: Retention) -> Arg {
    match retention {
        Retention::Forever => seconds(None),
        Retention::For(duration) => seconds(Some(duration)),
    }
}

/// Returns the statement that calls a function. The statement does not depend on the search path.
fn call<const N: usize>(schema: &Schema, function: &str, columns: &str, args: [Arg; N]) -> Statement {
    let parameters = args.iter().zip(1..).map(|(arg, number)| match arg {
        Arg::Text(_) => format!("${number}::pg_catalog.text"),
        Arg::Int(_) => format!("${number}::bigint"),
        Arg::Seconds(_) => format!("pg_catalog.make_interval(secs => ${number}::double precision)"),
        Arg::Bytes(_) => format!("${number}::pg_catalog.bytea"),
    });
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    Statement { text: format!("SELECT {columns} FROM {schema}.{function}({parameters})"), args: args.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_text_contains_no_argument() {
        let statement = |claim: &str| {
            let (bank, claim) = ("vouchers".parse().unwrap(), claim.parse().unwrap());
            assign(&Schema::default(), &bank, &claim, Hold::Forever)
        };
        let [one, other] = ["ada", "'); DROP SCHEMA storagebox; --"].map(statement);
        assert_eq!(one.text, other.text);
        assert_ne!(one.args, other.args);
    }

    #[test]
    fn debug_of_a_statement_shows_no_payload() {
        let secret = &Payload::new(&b"hunter2"[..]).unwrap();
        let names = ("records".parse().unwrap(), "id".parse().unwrap(), "op".parse().unwrap());
        let statement = record(&Schema::default(), &names.0, &names.1, secret, &names.2, Retention::Forever);
        assert!(format!("{statement:?}").contains("Bytes(7 bytes)"));
    }
}
