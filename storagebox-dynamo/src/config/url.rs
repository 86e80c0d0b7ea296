//! The URLs: `dynamodb://region/table?key=value`, and `dynamodb+articles://region/items/records?key=value`.

use storagebox_core::Result;
use storagebox_core::backend::url::{decoded, duration, keys, number, one_of, retention, switch, unknown};

use super::{DynamoBuilder, ReadFirst, Regions};
use crate::error::misconfigured;

/// What the URL is when it is right, for those whose is not.
const FORM: &str = "must be dynamodb://region/table?key=value";

/// The same for the tables of article 1's package.
const FORM_OF_ARTICLES: &str = "must be dynamodb+articles://region/items/records?key=value";

const KEYS: [&str; 12] = [
    "endpoint",
    "prefix",
    "remember",
    "max_skew",
    "call_timeout",
    "shards",
    "fetch_limit",
    "read_first",
    "retry_atomic",
    "keys_alone",
    "regions",
    "protect",
];

/// What the two tables have no use for is refused.
const KEYS_OF_ARTICLES: [&str; 3] = ["endpoint", "call_timeout", "fetch_limit"];

const READ_FIRST: [(&str, ReadFirst); 3] =
    [("auto", ReadFirst::Auto), ("always", ReadFirst::Always), ("never", ReadFirst::Never)];

const REGIONS: [(&str, Regions); 3] = [("one", Regions::One), ("moved", Regions::Moved), ("several", Regions::Several)];

/// Where the requests go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) region: String,
    pub(crate) endpoint: Option<String>,
}

pub(crate) fn read(builder: DynamoBuilder, url: &str) -> Result<(DynamoBuilder, Address)> {
    let rest = url.strip_prefix("dynamodb://").ok_or_else(|| misconfigured("url", FORM))?;
    let Place { region, tables, query } = place(rest, FORM)?;
    with_keys(builder.table(tables), region, query, &KEYS)
}

/// The builder is of the items; the name is that of the records.
pub(crate) fn of_articles(builder: DynamoBuilder, url: &str) -> Result<(DynamoBuilder, Address, String)> {
    let form = || misconfigured("url", FORM_OF_ARTICLES);
    let rest = url.strip_prefix("dynamodb+articles://").ok_or_else(form)?;
    let Place { region, tables, query } = place(rest, FORM_OF_ARTICLES)?;
    let (items, records) = tables.split_once('/').ok_or_else(form)?;
    let (builder, address) = with_keys(builder.table(items), region, query, &KEYS_OF_ARTICLES)?;
    Ok((builder, address, records.to_owned()))
}

/// What follows the scheme.
struct Place<'a> {
    region: &'a str,
    tables: &'a str,
    query: &'a str,
}

fn place<'a>(rest: &'a str, form: &str) -> Result<Place<'a>> {
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (region, tables) = place.split_once('/').ok_or_else(|| misconfigured("url", form))?;
    if region.is_empty() || region.contains(['@', ':']) {
        return Err(misconfigured("url", "names no region; credentials never stand in it"));
    }
    Ok(Place { region, tables, query })
}

fn with_keys(builder: DynamoBuilder, region: &str, query: &str, known: &[&str]) -> Result<(DynamoBuilder, Address)> {
    let mut read = (builder, None);
    for (key, value) in keys(query) {
        if !known.contains(&key) {
            return Err(unknown(key, value, known));
        }
        read = set(read, key, &decoded(value)?)?;
    }
    let (builder, endpoint) = read;
    Ok((builder, Address { region: region.to_owned(), endpoint }))
}

type Read = (DynamoBuilder, Option<String>);

fn set((builder, endpoint): Read, key: &str, value: &str) -> Result<Read> {
    let builder = match key {
        "endpoint" => return Ok((builder, Some(checked_endpoint(value)?))),
        "prefix" => builder.prefix(value),
        "remember" => builder.remember(retention("remember", value)?),
        "max_skew" => builder.max_skew(duration("max_skew", value)?),
        "call_timeout" => builder.call_timeout(duration("call_timeout", value)?),
        "shards" => builder.shards(number("shards", value)?),
        "fetch_limit" => builder.fetch_limit(number("fetch_limit", value)?),
        "read_first" => builder.read_first(one_of("read_first", value, &READ_FIRST)?),
        "retry_atomic" => builder.retry_atomic(switch("retry_atomic", value)?),
        "keys_alone" => builder.keys_alone(switch("keys_alone", value)?),
        "regions" => builder.regions(one_of("regions", value, &REGIONS)?),
        "protect" => builder.protect(switch("protect", value)?),
        _ => return Err(unknown(key, value, &KEYS)),
    };
    Ok((builder, endpoint))
}

fn checked_endpoint(value: &str) -> Result<String> {
    let is_http = ["http://", "https://"].iter().any(|scheme| value.starts_with(scheme));
    match is_http && !value.contains('@') {
        true => Ok(value.to_owned()),
        false => Err(misconfigured("endpoint", "must begin with http:// or https:// and hold no credentials")),
    }
}
