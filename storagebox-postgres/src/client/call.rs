//! A call of one of the schema's functions: prepared, or written out as one message of the simple protocol.

use std::fmt::Write;

use sqlx::postgres::{PgArguments, PgConnection, PgRow};
use sqlx::{Arguments, AssertSqlSafe, Executor, query_with, raw_sql};

use super::texts::Texts;
use crate::config::{Schema, Settings, Statements};

/// What almost every call fits in, so that nothing grows while it is made: arguments, bytes of a prepared statement, and
/// bytes that are bound.
const ARGUMENTS: usize = 8;
const STATEMENT: usize = 192;
const BOUND: usize = 256;

/// The function that is there in this version alone.
const IS_VERSION: &str = "is_version_1";

/// A function with its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Call<'a> {
    function: &'static str,
    shape: Shape,
    arguments: Vec<Arg<'a>>,
    /// What must still be what was opened: the function that asks, and its arguments.
    still: Option<(&'static str, Vec<Arg<'a>>)>,
}

/// What the function answers.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Value,
    Rows,
}

/// An argument. None may be shown: there are items among them.
#[derive(Clone)]
pub(crate) enum Arg<'a> {
    Text(Option<&'a str>),
    Int(Option<i64>),
    Small(i32),
    Bool(bool),
    Bytes(Option<&'a [u8]>),
    Texts(Vec<&'a str>),
    Ints(Vec<Option<i64>>),
    Smalls(Vec<i32>),
    Blobs(Vec<Option<&'a [u8]>>),
}

/// A namespace as it was when it was opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    /// The number that its rows have.
    pub(super) number: i64,
    /// That in which it was created, by chance.
    pub(super) epoch: i64,
}

impl<'a> Call<'a> {
    /// A function that answers one value.
    pub(crate) fn value(function: &'static str) -> Self {
        Self { function, shape: Shape::Value, arguments: Vec::with_capacity(ARGUMENTS), still: None }
    }

    /// A function that answers rows.
    pub(crate) fn rows(function: &'static str) -> Self {
        Self { function, shape: Shape::Rows, arguments: Vec::with_capacity(ARGUMENTS), still: None }
    }

    pub(crate) fn with(mut self, argument: impl Into<Arg<'a>>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// About this namespace, which comes first among the arguments and must be the one that was opened.
    pub(crate) fn about(mut self, opened: Opened) -> Self {
        let number = opened.number;
        self.still = Some(("is_namespace", vec![number.into(), opened.epoch.into()]));
        self.with(number)
    }

    /// About this namespace: the function takes its number and its epoch first, and asks itself.
    pub(crate) fn of(self, opened: Opened) -> Self {
        self.with(opened.number).with(opened.epoch)
    }

    /// Also about this namespace, if there is one, which comes next among the arguments: the function asks itself.
    pub(crate) fn joining(self, joined: Option<Opened>) -> Self {
        self.with(joined.map(|opened| opened.number)).with(joined.map(|opened| opened.epoch))
    }

    /// About all of the store, which must be the one of this epoch.
    pub(crate) fn in_epoch(mut self, epoch: i64) -> Self {
        self.still = Some(("is_store", vec![epoch.into()]));
        self
    }

    pub(crate) fn function(&self) -> &'static str {
        self.function
    }

    pub(super) async fn fetch(
        &self,
        connection: &mut PgConnection,
        settings: &Settings,
        texts: &Texts,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        match settings.statements {
            Statements::Prepared => {
                let sql = texts.of(self.function, self.arguments.len(), || self.numbered(&settings.schema));
                let arguments = self.bound().map_err(sqlx::Error::Encode)?;
                connection.fetch_all(query_with(AssertSqlSafe(sql), arguments)).await
            }
            Statements::Simple => {
                let sql = self.statement(&settings.schema, |sql, _, argument| argument.write(sql));
                connection.fetch_all(raw_sql(AssertSqlSafe(sql))).await
            }
        }
    }

    /// With the numbers of the arguments in place of them.
    fn numbered(&self, schema: &Schema) -> String {
        self.statement(schema, |sql, number, _| write!(sql, "${number}"))
    }

    fn statement(
        &self,
        schema: &Schema,
        write_argument: impl Fn(&mut String, usize, &Arg<'_>) -> std::fmt::Result,
    ) -> String {
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
        // In place of a look at the version: the name is there in this version alone.
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

impl Arg<'_> {
    fn bind(&self, to: &mut PgArguments) -> Result<(), sqlx::error::BoxDynError> {
        match self {
            Self::Text(text) => to.add(*text),
            Self::Int(number) => to.add(*number),
            Self::Small(number) => to.add(*number),
            Self::Bool(yes) => to.add(*yes),
            Self::Bytes(bytes) => to.add(*bytes),
            Self::Texts(texts) => to.add(texts),
            Self::Ints(numbers) => to.add(numbers),
            Self::Smalls(numbers) => to.add(numbers),
            Self::Blobs(blobs) => to.add(blobs),
        }
    }

    /// As a literal. Texts and bytes are hexadecimal, so that nothing in them can end it.
    fn write(&self, sql: &mut String) -> std::fmt::Result {
        match self {
            Self::Text(text) => literal(sql, *text, "pg_catalog.text", text_literal),
            Self::Int(number) => literal(sql, *number, "bigint", int_literal),
            Self::Small(number) => write!(sql, "({number})::integer"),
            Self::Bool(yes) => write!(sql, "{yes}"),
            Self::Bytes(bytes) => literal(sql, *bytes, "pg_catalog.bytea", bytes_literal),
            Self::Texts(texts) => array(sql, texts, "pg_catalog.text", |sql, text| text_literal(sql, text)),
            Self::Ints(numbers) => {
                array(sql, numbers, "bigint", |sql, number| literal(sql, *number, "bigint", int_literal))
            }
            Self::Smalls(numbers) => array(sql, numbers, "integer", |sql, number| write!(sql, "({number})")),
            Self::Blobs(blobs) => array(sql, blobs, "pg_catalog.bytea", |sql, blob| {
                literal(sql, *blob, "pg_catalog.bytea", bytes_literal)
            }),
        }
    }
}

fn literal<T>(
    sql: &mut String,
    value: Option<T>,
    type_name: &str,
    write_value: impl Fn(&mut String, T) -> std::fmt::Result,
) -> std::fmt::Result {
    match value {
        Some(value) => write_value(sql, value),
        None => write!(sql, "NULL::{type_name}"),
    }
}

fn array<T>(
    sql: &mut String,
    values: &[T],
    type_name: &str,
    write_value: impl Fn(&mut String, &T) -> std::fmt::Result,
) -> std::fmt::Result {
    sql.push_str("ARRAY[");
    for (index, value) in values.iter().enumerate() {
        sql.push_str(if index == 0 { "" } else { "," });
        write_value(sql, value)?;
    }
    write!(sql, "]::{type_name}[]")
}

fn int_literal(sql: &mut String, number: i64) -> std::fmt::Result {
    write!(sql, "({number})::bigint")
}

fn text_literal(sql: &mut String, text: &str) -> std::fmt::Result {
    sql.push_str("pg_catalog.convert_from(");
    bytes_literal(sql, text.as_bytes())?;
    write!(sql, ",'UTF8')")
}

fn bytes_literal(sql: &mut String, bytes: &[u8]) -> std::fmt::Result {
    sql.push_str("pg_catalog.decode('");
    for byte in bytes {
        write!(sql, "{byte:02x}")?;
    }
    write!(sql, "','hex')")
}

macro_rules! from {
    ($($type:ty => |$value:ident| $argument:expr;)*) => {$(
        impl<'a> From<$type> for Arg<'a> {
            fn from($value: $type) -> Self {
                $argument
            }
        }
    )*};
}

from! {
    &'a str => |text| Self::Text(Some(text));
    Option<&'a str> => |text| Self::Text(text);
    i64 => |number| Self::Int(Some(number));
    Option<i64> => |number| Self::Int(number);
    i32 => |number| Self::Small(number);
    bool => |yes| Self::Bool(yes);
    &'a [u8] => |bytes| Self::Bytes(Some(bytes));
    Option<&'a [u8]> => |bytes| Self::Bytes(bytes);
    Vec<&'a str> => |texts| Self::Texts(texts);
    Vec<i64> => |numbers| Self::Ints(numbers.into_iter().map(Some).collect());
    Vec<Option<i64>> => |numbers| Self::Ints(numbers);
    Vec<i32> => |numbers| Self::Smalls(numbers);
    Vec<Option<&'a [u8]>> => |blobs| Self::Blobs(blobs);
}

impl std::fmt::Debug for Arg<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("..")
    }
}

#[cfg(test)]
mod tests {
    use super::super::known::VERSION;
    use super::*;

    fn written(call: &Call<'_>) -> String {
        call.statement(&Schema::default(), |sql, _, argument| argument.write(sql))
    }

    #[test]
    fn nothing_in_a_text_can_end_its_literal() {
        let call = Call::value("f").with("'); drop table x; --").with(vec!["\\'", "é"]);
        let sql = written(&call);
        assert!(!sql.contains("drop") && !sql.contains('\\') && sql.is_ascii(), "{sql}");
        assert!(sql.starts_with("SELECT storagebox.f(pg_catalog.convert_from(pg_catalog.decode('27"), "{sql}");
    }

    #[test]
    fn every_argument_has_its_type() {
        let call = Call::rows("f").with(i64::MIN).with(None::<i64>).with(None::<&str>).with(Vec::<&str>::new());
        let expected = "SELECT * FROM storagebox.f((-9223372036854775808)::bigint,NULL::bigint,NULL::pg_catalog.text,ARRAY[]::pg_catalog.text[])";
        assert_eq!(written(&call), format!("{expected} WHERE storagebox.is_version_{VERSION}()"));
    }

    #[test]
    fn a_call_about_a_namespace_asks_whether_it_is_still_there() {
        let call = Call::value("f").about(Opened { number: 7, epoch: -8 }).with(true);
        let numbered = call.numbered(&Schema::default());
        let expected = format!(
            "SELECT storagebox.f($1,$2) WHERE storagebox.is_version_{VERSION}() AND storagebox.is_namespace($3,$4)"
        );
        assert_eq!(numbered, expected);
        assert!(written(&call).ends_with(" AND storagebox.is_namespace((7)::bigint,(-8)::bigint)"));
        let call = Call::value("f").with(1).in_epoch(2);
        assert!(written(&call).ends_with("() AND storagebox.is_store((2)::bigint)"));
    }

    #[test]
    fn no_argument_is_shown() {
        let call = Call::value("f").with("hunter2");
        assert!(!format!("{call:?}").contains("hunter2"));
    }
}
