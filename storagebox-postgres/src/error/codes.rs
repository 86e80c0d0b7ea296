//! The meaning of the server's error codes, PostgreSQL 12 to 18. A statement whose code is not in the table may have
//! been applied (ER-1).

use storagebox_core::ErrorKind;

/// The meaning of each SQLSTATE for a statement that is its own transaction.
///
/// The first entry that is a prefix of the code decides. The name of a violated constraint is appended to the code for
/// this comparison. The server reports what is wrong with a statement or a row before it commits, so nothing was
/// applied. After a code that is not in the table, the statement may have been applied: lost connections (08), killed
/// sessions (57P01, 57P02), the files (58) and faults (XX000) of the server, and foreign tables (HV), which commit
/// elsewhere.
pub(super) const CODES: &[(&str, ErrorKind, &str)] = &[
    ("SB001", ErrorKind::Corrupt, super::NOT_THAT_OPENED),
    (
        "SB002",
        ErrorKind::Unsupported,
        "the session or the transaction is not at READ COMMITTED; begin the transaction at that level, or set \
            default_transaction_isolation for its role",
    ),
    (
        "SB003",
        ErrorKind::Misconfigured,
        "the connection is not inside a transaction; begin one, or call the store itself",
    ),
    (
        "SB004",
        ErrorKind::Fenced,
        "the lease has lapsed and another operation may have begun; the transaction was ended so that it cannot commit",
    ),
    ("SB007", ErrorKind::Contention, IN_TRANSACTION),
    ("09", ErrorKind::Misconfigured, REFUSED),
    ("0A", ErrorKind::Unsupported, "the server lacks a feature that the call needs; the cause says which"),
    ("0B", ErrorKind::Contention, IN_TRANSACTION),
    ("0F", ErrorKind::Misconfigured, REFUSED),
    ("0L", ErrorKind::Misconfigured, REFUSED),
    ("0P", ErrorKind::Misconfigured, REFUSED),
    ("0Z", ErrorKind::Misconfigured, REFUSED),
    ("10", ErrorKind::Misconfigured, REFUSED),
    ("20", ErrorKind::Misconfigured, REFUSED),
    ("21", ErrorKind::Corrupt, "there are two rows where at most one is allowed"),
    ("22", ErrorKind::Corrupt, "a row holds a value that no call of the library wrote"),
    ("23505 free_items_pkey", ErrorKind::Corrupt, "an item is free and has another state at the same time"),
    ("23505 withdrawn_items_pkey", ErrorKind::Corrupt, "an item is withdrawn and has another state at the same time"),
    ("23505", ErrorKind::Contention, "another call with the same id was in progress"),
    // The schema has neither a foreign key nor an exclusion constraint.
    ("23503", ErrorKind::Misconfigured, REFUSED),
    ("23P01", ErrorKind::Misconfigured, REFUSED),
    ("23", ErrorKind::Corrupt, "a row breaks a constraint of its table"),
    ("25006", ErrorKind::Unavailable, "the server, the session or the transaction is read-only; write on the primary"),
    ("25P03", ErrorKind::Unavailable, IDLE),
    ("25P04", ErrorKind::Contention, "the server ended the transaction and its session, by transaction_timeout"),
    ("25", ErrorKind::Contention, IN_TRANSACTION),
    ("26", ErrorKind::Misconfigured, MIXED),
    ("27", ErrorKind::Misconfigured, REFUSED),
    ("28", ErrorKind::Denied, "the server refused the user or the password"),
    ("2D", ErrorKind::Contention, IN_TRANSACTION),
    ("2", ErrorKind::Misconfigured, REFUSED),
    ("3D000", ErrorKind::NotSetUp, "the database does not exist; create it first"),
    ("3F000", ErrorKind::NotSetUp, "the schema does not exist"),
    ("3", ErrorKind::Misconfigured, REFUSED),
    ("40001", ErrorKind::Contention, "another transaction used the same rows"),
    ("40P01", ErrorKind::Contention, "another transaction used the same rows"),
    ("40002", ErrorKind::Corrupt, "a row breaks a constraint of its table"),
    ("40000", ErrorKind::Contention, "the server rolled the transaction back"),
    ("42501", ErrorKind::Denied, "a right is missing, or row security refused the statement; the cause says where"),
    ("42P01", ErrorKind::NotSetUp, "the schema or a table of it does not exist"),
    ("42883", ErrorKind::NotSetUp, "a function of the schema does not exist, or a column has the wrong type"),
    ("42P05", ErrorKind::Misconfigured, MIXED),
    ("42P17", ErrorKind::Misconfigured, NOT_TO_BE_CHANGED),
    ("42", ErrorKind::Corrupt, "a table differs from the table that `setup` created"),
    ("44", ErrorKind::Misconfigured, REFUSED),
    ("53300", ErrorKind::Throttled, "the server has no connection left"),
    ("53", ErrorKind::Unavailable, "the server is short of memory or disk"),
    ("54000", ErrorKind::Unavailable, "the server accepts no changes; the cause says why"),
    ("54", ErrorKind::Misconfigured, REFUSED),
    ("55P03", ErrorKind::Contention, "waiting for a lock timed out"),
    ("55006", ErrorKind::Contention, "another session uses an object that the call needs"),
    ("55000", ErrorKind::Misconfigured, NOT_TO_BE_CHANGED),
    ("55", ErrorKind::Misconfigured, REFUSED),
    ("57014", ErrorKind::Contention, "the statement was cancelled, by its timeout or by hand"),
    ("57P03", ErrorKind::Unavailable, "the server is starting up or shutting down"),
    ("57P05", ErrorKind::Unavailable, IDLE),
    ("72", ErrorKind::Contention, "the server removed rows that the statement needed"),
    ("F0", ErrorKind::Misconfigured, REFUSED),
    ("P0", ErrorKind::Misconfigured, REFUSED),
    ("XX001", ErrorKind::Corrupt, "a row or a page is damaged"),
    ("XX002", ErrorKind::Corrupt, "an index is damaged"),
];

/// The meaning of a code that refuses a connection before any statement is sent.
const AT_LOGIN: &[(&str, ErrorKind, &str)] = &[
    ("22", ErrorKind::Misconfigured, SESSION),
    (
        "42501",
        ErrorKind::Denied,
        "the role may not use the database, or may not set an option of the URL; the cause says which",
    ),
    ("42", ErrorKind::Misconfigured, SESSION),
    ("55000", ErrorKind::Unavailable, "the database takes no connections; the cause says why"),
];

const SESSION: &str =
    "the server refuses a session setting of the URL or of the role, such as `options`; the cause says which";
const REFUSED: &str = "something other than the library refused the statement, such as a trigger or a limit of the \
    server; the cause says what";
pub(super) const NOT_TO_BE_CHANGED: &str = "the server refuses changes of a table, because of a publication that \
    needs other columns or a replica identity, a policy, or a view in place of the table; the cause says which table";
const IDLE: &str = "the server had ended the idle session";
const IN_TRANSACTION: &str = "the connection was inside a transaction of other code; join it with `within`, or see `A \
    pool of your own` in the README";
const MIXED: &str = "a pooler mixed up prepared statements of several sessions; use statements=simple";

pub(super) fn known(code: &str) -> Option<(ErrorKind, &'static str)> {
    among(CODES, code)
}

pub(super) fn known_at_login(code: &str) -> Option<(ErrorKind, &'static str)> {
    among(AT_LOGIN, code).or_else(|| known(code))
}

fn among(table: &[(&str, ErrorKind, &'static str)], code: &str) -> Option<(ErrorKind, &'static str)> {
    table.iter().find(|(prefix, ..)| code.starts_with(prefix)).map(|(_, kind, message)| (*kind, *message))
}

/// The codes of a session that the server ended because it was idle.
pub(super) const ENDED_IDLE: [&str; 2] = ["25P03", "57P05"];

/// The code of a session that an administrator or a shutdown ended.
pub(super) const ENDED: &str = "57P01";

pub(super) const ENDED_BEFORE: &str = "the server or a pooler ended the session before the call was made";

/// The code of a protocol violation, which PgBouncer sends for every reason to close a client's connection.
pub(super) const OF_POOLER: &str = "08P01";
pub(super) const CLIENT_IDLE: &str = "client_idle_timeout";
/// The beginnings of PgBouncer's messages while it has no connection to the server. The beginnings are the same in all
/// versions of PgBouncer.
pub(super) const NO_SERVER: [&str; 2] = ["server login has been failing", "pgbouncer cannot connect to server"];
pub(super) const CUT_OFF: &str = "the pooler cannot reach the server or log in to it; the cause says more";
pub(super) const QUERY_WAIT_TIMEOUT: &str = "query_wait_timeout";
pub(super) const QUERY_WAIT: &str = "the pooler had no connection to the server in time (query_wait_timeout)";

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(code: &str) -> Option<ErrorKind> {
        known(code).map(|(kind, _)| kind)
    }

    #[test]
    fn each_code_of_the_table_maps_to_its_kind() {
        for (code, expected) in [
            ("28000", ErrorKind::Denied),
            ("28P01", ErrorKind::Denied),
            ("42501", ErrorKind::Denied),
            ("SB001", ErrorKind::Corrupt),
            ("3D000", ErrorKind::NotSetUp),
            ("3F000", ErrorKind::NotSetUp),
            ("42P01", ErrorKind::NotSetUp),
            ("42883", ErrorKind::NotSetUp),
            ("40001", ErrorKind::Contention),
            ("40P01", ErrorKind::Contention),
            ("23505", ErrorKind::Contention),
            ("23505 claims_by_claim", ErrorKind::Contention),
            ("23505 free_items_pkey", ErrorKind::Corrupt),
            ("23514 claims_check", ErrorKind::Corrupt),
            ("22003", ErrorKind::Corrupt),
            ("42703", ErrorKind::Corrupt),
            ("42P05", ErrorKind::Misconfigured),
            ("XX001", ErrorKind::Corrupt),
            ("55P03", ErrorKind::Contention),
            ("57014", ErrorKind::Contention),
            ("53300", ErrorKind::Throttled),
            ("53100", ErrorKind::Unavailable),
            ("53200", ErrorKind::Unavailable),
            ("25006", ErrorKind::Unavailable),
            ("57P03", ErrorKind::Unavailable),
            ("57P05", ErrorKind::Unavailable),
            ("25P04", ErrorKind::Contention),
            ("55000", ErrorKind::Misconfigured),
            ("P0001", ErrorKind::Misconfigured),
        ] {
            assert_eq!(kind(code), Some(expected), "{code}");
        }
    }

    /// Codes of killed sessions, broken protocols and server faults are not in the table.
    #[test]
    fn code_whose_statement_may_have_been_applied_is_not_listed() {
        for code in ["", "57P01", "57P02", "08006", "08P01", "58030", "XX000", "HV000", "40003"] {
            assert_eq!(kind(code), None, "{code}");
        }
    }

    #[test]
    fn no_entry_of_the_code_table_hides_a_later_entry() {
        for (index, (prefix, ..)) in CODES.iter().enumerate() {
            let before = CODES[..index].iter().find(|(before, ..)| prefix.starts_with(before));
            assert_eq!(before, None, "{prefix}");
        }
    }
}
