//! A call of one of the schema's functions: prepared, or written out as one message of the simple protocol.

mod arg;

use std::fmt::Write;
use std::future::ready;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use sqlx::postgres::{PgArguments, PgConnection, PgQueryResult, PgRow};
use sqlx::{Arguments, AssertSqlSafe, Either, Executor, query_with, raw_sql};

use super::statement_cache::StatementCache;
use crate::config::{Schema, Settings, Statements};

use arg::Arg;

/// Initial capacities that almost every call fits in: the number of arguments, the bytes of a prepared statement, and
/// the bytes of bound values.
const ARGUMENTS: usize = 10;
const STATEMENT: usize = 192;
const BOUND: usize = 256;

/// The function that fails inside a transaction of other code (J-3).
const IS_ALONE: &str = "is_alone";

/// The function that exists only in this version of the schema, so a call of it fails in any other version.
const IS_VERSION: &str = "is_version_3";

/// The statement that applies the settings of a session to one transaction.
pub(crate) const SESSION: &str = include_str!("../../sql/store/session.sql");

#[derive(Clone, Debug)]
pub(crate) struct FunctionCall<'a> {
    function: &'static str,
    shape: Shape,
    arguments: Vec<Arg<'a>>,
    /// The function, with its arguments, that checks that the namespace or the store is still the one that was opened;
    /// `None` for no check.
    still: Option<(&'static str, Vec<Arg<'a>>)>,
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Value,
    Rows,
}

/// The number of statements that precede the call's own statement in a message of the simple protocol.
pub(super) const BEFORE: usize = 3;

/// The stream of answers to a message: for each statement, the rows and then the result that ends the statement.
pub(super) type Answers<'c> = BoxStream<'c, Result<Either<PgQueryResult, PgRow>, sqlx::Error>>;

/// Returns the text to send for the statement `sql`. If statements are simple, the text begins with [`SESSION`].
pub(super) fn in_session(settings: &Settings, sql: &str) -> String {
    match settings.statements {
        Statements::Prepared => sql.to_owned(),
        Statements::Simple => format!("{SESSION}{sql}"),
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    /// The number of the namespace, which each row of the namespace contains.
    pub(super) number: i64,
    /// The random number that was generated when the namespace was created.
    pub(super) epoch: i64,
}

impl<'a> FunctionCall<'a> {
    pub(crate) fn value(function: &'static str) -> Self {
        Self { function, shape: Shape::Value, arguments: Vec::with_capacity(ARGUMENTS), still: None }
    }

    pub(crate) fn rows(function: &'static str) -> Self {
        Self { function, shape: Shape::Rows, arguments: Vec::with_capacity(ARGUMENTS), still: None }
    }

    pub(crate) fn with(mut self, argument: impl Into<Arg<'a>>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds the number of the namespace as the next argument, and a check that the namespace is still the one that was
    /// opened.
    pub(crate) fn about(mut self, opened: Opened) -> Self {
        let number = opened.number;
        self.still = Some(("is_namespace", vec![number.into(), opened.epoch.into()]));
        self.with(number)
    }

    /// Adds the number and the epoch of the namespace as the next arguments. The called function checks the epoch.
    pub(crate) fn of(self, opened: Opened) -> Self {
        self.with(opened.number).with(opened.epoch)
    }

    /// Adds the number and the epoch of a joined namespace, or nulls, as the next arguments. The called function checks
    /// the epoch.
    pub(crate) fn joining(self, joined: Option<Opened>) -> Self {
        self.with(joined.map(|opened| opened.number)).with(joined.map(|opened| opened.epoch))
    }

    /// Adds the check that the store still has this epoch.
    pub(crate) fn in_epoch(mut self, epoch: i64) -> Self {
        self.still = Some(("is_store", vec![epoch.into()]));
        self
    }

    pub(crate) fn function(&self) -> &'static str {
        self.function
    }

    pub(super) fn fetch<'c>(
        &self,
        connection: &'c mut PgConnection,
        settings: &Settings,
        statements: &StatementCache,
    ) -> Answers<'c> {
        match settings.statements {
            Statements::Prepared => {
                let sql = statements.of(self.function, self.arguments.len(), || self.alone(&settings.schema, numbered));
                match self.bound() {
                    Ok(arguments) => connection.fetch_many(query_with(AssertSqlSafe(sql), arguments)),
                    Err(error) => stream::once(ready(Err(sqlx::Error::Encode(error)))).boxed(),
                }
            }
            Statements::Simple => {
                let sql = self.alone(&settings.schema, |sql, _, argument| argument.write(sql));
                connection.fetch_many(raw_sql(AssertSqlSafe(format!("{SESSION}{sql}"))))
            }
        }
    }

    pub(super) fn joined(&self, schema: &Schema) -> Result<(String, PgArguments), sqlx::error::BoxDynError> {
        Ok((self.checked(schema, numbered), self.bound()?))
    }

    /// Returns the statement for a connection of the store, which must not be inside a transaction of other code.
    fn alone(&self, schema: &Schema, write_argument: WriteArgument) -> String {
        let mut sql = self.checked(schema, write_argument);
        sql.extend([" AND ", schema.as_str(), ".", IS_ALONE, "()"]);
        sql
    }

    /// Returns the statement with the check of the version, and with the check in `still` if there is one.
    fn checked(&self, schema: &Schema, write_argument: WriteArgument) -> String {
        let select = match self.shape {
            Shape::Value => "SELECT",
            Shape::Rows => "SELECT * FROM",
        };
        let schema = schema.as_str();
        let mut sql = String::with_capacity(STATEMENT);
        sql.extend([select, " ", schema, ".", self.function, "("]);
        let mut number = 0;
        let mut write_all = |sql: &mut String, arguments: &[Arg<'_>]| {
            for (index, argument) in arguments.iter().enumerate() {
                sql.push_str(if index == 0 { "" } else { "," });
                number += 1;
                // Writing to a string does not fail.
                let _infallible = write_argument(sql, number, argument);
            }
        };
        write_all(&mut sql, &self.arguments);
        // Checks the version without another query: the function exists in this version only.
        sql.extend([") WHERE ", schema, ".", IS_VERSION, "()"]);
        if let Some((asks, arguments)) = &self.still {
            sql.extend([" AND ", schema, ".", asks, "("]);
            write_all(&mut sql, arguments);
            sql.push(')');
        }
        sql
    }

    fn bound(&self) -> Result<PgArguments, sqlx::error::BoxDynError> {
        let mut bound = PgArguments::default();
        bound.reserve(2 * ARGUMENTS, BOUND);
        let still = self.still.iter().flat_map(|(_, arguments)| arguments);
        for argument in self.arguments.iter().chain(still) {
            argument.bind(&mut bound)?;
        }
        Ok(bound)
    }
}

type WriteArgument = fn(&mut String, usize, &Arg<'_>) -> std::fmt::Result;

/// Writes `$` and the number, in place of the argument.
fn numbered(sql: &mut String, number: usize, _: &Arg<'_>) -> std::fmt::Result {
    write!(sql, "${number}")
}

#[cfg(test)]
mod tests {
    use super::super::store_info::VERSION;
    use super::*;

    fn written(call: &FunctionCall<'_>) -> String {
        call.checked(&Schema::default(), |sql, _, argument| argument.write(sql))
    }

    #[test]
    fn no_text_can_end_its_sql_literal() {
        let call = FunctionCall::value("f").with("'); drop table x; --").with(vec!["\\'", "é"]);
        let sql = written(&call);
        assert!(!sql.contains("drop") && !sql.contains('\\') && sql.is_ascii(), "{sql}");
        assert!(sql.starts_with("SELECT storagebox.f(pg_catalog.convert_from(pg_catalog.decode('27"), "{sql}");
    }

    #[test]
    fn each_literal_of_an_argument_is_cast_to_its_type() {
        let call = FunctionCall::rows("f").with(i64::MIN).with(None::<i64>).with(None::<&str>).with(Vec::<&str>::new());
        let expected = "SELECT * FROM storagebox.f((-9223372036854775808)::bigint,NULL::bigint,NULL::pg_catalog.text,ARRAY[]::pg_catalog.text[])";
        assert_eq!(written(&call), format!("{expected} WHERE storagebox.is_version_{VERSION}()"));
    }

    #[test]
    fn namespace_call_checks_that_the_namespace_still_exists() {
        let call = FunctionCall::value("f").about(Opened { number: 7, epoch: -8 }).with(true);
        let numbered = call.checked(&Schema::default(), numbered);
        let expected = format!(
            "SELECT storagebox.f($1,$2) WHERE storagebox.is_version_{VERSION}() AND storagebox.is_namespace($3,$4)"
        );
        assert_eq!(numbered, expected);
        assert_eq!(call.alone(&Schema::default(), super::numbered), format!("{expected} AND storagebox.is_alone()"));
        assert!(written(&call).ends_with(" AND storagebox.is_namespace((7)::bigint,(-8)::bigint)"));
        let call = FunctionCall::value("f").with(1).in_epoch(2);
        assert!(written(&call).ends_with("() AND storagebox.is_store((2)::bigint)"));
    }

    #[test]
    fn debug_of_a_call_shows_no_argument() {
        let call = FunctionCall::value("f").with("hunter2");
        assert!(!format!("{call:?}").contains("hunter2"));
    }
}
