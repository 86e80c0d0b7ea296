//! Parses the URLs `dynamodb://region/table?key=value` and `dynamodb+articles://region/items/records?key=value`.

use std::env;

use http::Uri;
use storagebox_core::Result;
use storagebox_core::backend::url::{decoded, duration, keys, number, one_of, plain_url, retention, switch, unknown};

use super::{DynamoBuilder, ReadFirst, Regions};
use crate::error::misconfigured;

const FORM: &str = "must be dynamodb://region/table?key=value";

/// The form of a valid URL of the two tables of article 1's package, for the text of an error.
const FORM_OF_ARTICLES: &str = "must be dynamodb+articles://region/items/records?key=value";

const KEYS: [&str; 11] = [
    "endpoint",
    "prefix",
    "remember",
    "max_skew",
    "call_timeout",
    "shards",
    "fetch_limit",
    "read_first",
    "retry_atomic",
    "regions",
    "protect",
];

/// The query keys that the URL of the two tables of article 1 can have.
const KEYS_OF_ARTICLES: [&str; 3] = ["endpoint", "call_timeout", "fetch_limit"];

/// Environment variables that make the SDK use another endpoint.
const ENDPOINTS: [&str; 2] = ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"];

const READ_FIRST: [(&str, ReadFirst); 3] =
    [("auto", ReadFirst::Auto), ("always", ReadFirst::Always), ("never", ReadFirst::Never)];

const REGIONS: [(&str, Regions); 3] = [("one", Regions::One), ("moved", Regions::Moved), ("several", Regions::Several)];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) region: String,
    pub(crate) endpoint: Option<String>,
}

pub(crate) fn read(builder: DynamoBuilder, url: &str) -> Result<(DynamoBuilder, Address)> {
    plain_url(url)?;
    let rest = url.strip_prefix("dynamodb://").ok_or_else(|| misconfigured("url", FORM))?;
    let Location { region, tables, query } = location(rest, FORM)?;
    with_keys(builder.table(tables), region, query, &KEYS)
}

/// Reads the URL of the two tables of article 1. Returns the builder for the items' table, the address of the service,
/// and the name of the records' table.
pub(crate) fn of_articles(builder: DynamoBuilder, url: &str) -> Result<(DynamoBuilder, Address, String)> {
    plain_url(url)?;
    let form = || misconfigured("url", FORM_OF_ARTICLES);
    let rest = url.strip_prefix("dynamodb+articles://").ok_or_else(form)?;
    let Location { region, tables, query } = location(rest, FORM_OF_ARTICLES)?;
    let (items, records) = tables.split_once('/').ok_or_else(form)?;
    let (builder, address) = with_keys(builder.table(items), region, query, &KEYS_OF_ARTICLES)?;
    Ok((builder, address, records.to_owned()))
}

struct Location<'a> {
    region: &'a str,
    tables: &'a str,
    query: &'a str,
}

fn location<'a>(rest: &'a str, form: &str) -> Result<Location<'a>> {
    let (location, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (region, tables) = location.split_once('/').ok_or_else(|| misconfigured("url", form))?;
    if region.is_empty() || region.contains(['@', ':']) {
        return Err(misconfigured("url", "names no region; a URL must not contain credentials"));
    }
    if !region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Err(misconfigured("url", "must name a region of letters, digits and `-`, such as eu-west-1"));
    }
    Ok(Location { region, tables, query })
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
    check_environment(endpoint.is_some(), |variable| env::var_os(variable).is_some())?;
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
        "regions" => builder.regions(one_of("regions", value, &REGIONS)?),
        "protect" => builder.protect(switch("protect", value)?),
        _ => return Err(unknown(key, value, &KEYS)),
    };
    Ok((builder, endpoint))
}

/// Returns an error if an environment variable sets the endpoint and the URL has no endpoint.
fn check_environment(has_endpoint: bool, is_set: impl Fn(&str) -> bool) -> Result<()> {
    match ENDPOINTS.into_iter().find(|variable| !has_endpoint && is_set(variable)) {
        Some(variable) => {
            let why = "would make the SDK use another endpoint than the URL; unset it, or write `endpoint` in the URL";
            Err(misconfigured(variable, why))
        }
        None => Ok(()),
    }
}

fn checked_endpoint(value: &str) -> Result<String> {
    let is_http = ["http://", "https://"].iter().any(|scheme| value.starts_with(scheme));
    if !is_http || value.contains('@') {
        return Err(misconfigured("endpoint", "must begin with http:// or https:// and hold no credentials"));
    }
    match value.parse::<Uri>() {
        Ok(uri) if uri.host().is_some_and(|host| !host.is_empty()) && has_port_or_none(&uri) => Ok(value.to_owned()),
        _ => Err(misconfigured("endpoint", "must be http://host:port or https://host:port")),
    }
}

/// Returns whether the URI has a valid port or no port. `Uri` reads an invalid port as no port.
fn has_port_or_none(uri: &Uri) -> bool {
    let after_host = uri.authority().zip(uri.host()).map(|(all, host)| all.as_str().len() > host.len());
    after_host != Some(true) || uri.port_u16().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_variable_is_refused_unless_the_url_has_an_endpoint() {
        for variable in ENDPOINTS {
            let refused = check_environment(false, |name| name == variable).unwrap_err();
            assert!(refused.message().starts_with(&format!("{variable} would make the SDK use")), "{refused}");
            check_environment(true, |name| name == variable).unwrap();
        }
        check_environment(false, |name| name == "AWS_PROFILE").unwrap();
    }
}
