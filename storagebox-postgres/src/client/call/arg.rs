//! An argument of a call, which is bound to a prepared statement or written as a literal.

use std::fmt::Write;

use sqlx::Arguments;
use sqlx::postgres::PgArguments;

/// An argument of a function call, whose `Debug` shows no value.
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
    Bools(Vec<bool>),
    Blobs(Vec<Option<&'a [u8]>>),
}

impl Arg<'_> {
    pub(super) fn bind(&self, to: &mut PgArguments) -> Result<(), sqlx::error::BoxDynError> {
        match self {
            Self::Text(text) => to.add(*text),
            Self::Int(number) => to.add(*number),
            Self::Small(number) => to.add(*number),
            Self::Bool(yes) => to.add(*yes),
            Self::Bytes(bytes) => to.add(*bytes),
            Self::Texts(texts) => to.add(texts),
            Self::Ints(numbers) => to.add(numbers),
            Self::Smalls(numbers) => to.add(numbers),
            Self::Bools(answers) => to.add(answers),
            Self::Blobs(blobs) => to.add(blobs),
        }
    }

    /// Writes the argument as a literal. Texts and bytes are hexadecimal, so that no character of them can end the
    /// literal.
    pub(super) fn write(&self, sql: &mut String) -> std::fmt::Result {
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
            Self::Bools(answers) => array(sql, answers, "boolean", |sql, yes| write!(sql, "{yes}")),
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
    Vec<bool> => |answers| Self::Bools(answers);
    Vec<Option<&'a [u8]>> => |blobs| Self::Blobs(blobs);
}

impl std::fmt::Debug for Arg<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("..")
    }
}
