//! Finds servers for tests, in the first of these sources that has a server. A missing server is a failure, never a
//! reason to skip a test:
//!
//! 1. `STORAGEBOX_TEST_POSTGRES_URL`, or the same with `DYNAMO`, `REDIS`, `NATS` or `RABBITMQ`, names a server; it
//!    must answer.
//! 2. Docker, in a build with the feature `docker`. `STORAGEBOX_TEST_POSTGRES_IMAGE`, or the same with another server's
//!    name, names the image.
//! 3. The server's programs on this machine. If they are installed, they must start.
//!
//! `STORAGEBOX_TEST_SERVERS=docker|local` selects one of the last two sources and excludes the other. With a plain
//! `cargo test`, each test program has its own server; `cargo xtask test` starts each server once and passes its URL to
//! all tests.

use std::any::Any;
use std::env;
use std::sync::OnceLock;
use std::time::Instant;

use crate::docker;
use crate::dynamodb;
use crate::failure::{Failure, NoServer};
use crate::nats;
use crate::postgres;
use crate::rabbitmq;
use crate::redis;
use crate::server::{Kind, Server, Started, Way};

/// The variable that selects a way.
pub const WAY_VARIABLE: &str = "STORAGEBOX_TEST_SERVERS";

/// Returns a PostgreSQL server with a superuser's login.
///
/// # Errors
///
/// Returns why there is no server, and what to do about it.
pub fn postgres(way: Option<Way>) -> Result<Server, Failure> {
    find(&postgres::KIND, &Request::for_kind(&postgres::KIND, way)?)
}

/// Returns the PostgreSQL server of this program, which the first call finds and all other calls share.
///
/// Statics are never dropped. A local server still ends with the program; a container is removed by the next program
/// that looks for one.
pub fn shared_postgres() -> Result<&'static Server, &'static Failure> {
    static SHARED: OnceLock<Result<Server, Failure>> = OnceLock::new();
    SHARED.get_or_init(|| postgres(None)).as_ref()
}

/// Returns a DynamoDB server, whose tables belong to the holder of the key.
pub fn dynamodb(way: Option<Way>) -> Result<Server, Failure> {
    find(&dynamodb::KIND, &Request::for_kind(&dynamodb::KIND, way)?)
}

/// Returns the DynamoDB server of this program, as [`shared_postgres`] does for PostgreSQL.
pub fn shared_dynamodb() -> Result<&'static Server, &'static Failure> {
    static SHARED: OnceLock<Result<Server, Failure>> = OnceLock::new();
    SHARED.get_or_init(|| dynamodb(None)).as_ref()
}

/// Returns a Redis server whose default user may do everything.
pub fn redis(way: Option<Way>) -> Result<Server, Failure> {
    find(&redis::KIND, &Request::for_kind(&redis::KIND, way)?)
}

/// Returns the Redis server of this program, as [`shared_postgres`] does for PostgreSQL.
pub fn shared_redis() -> Result<&'static Server, &'static Failure> {
    static SHARED: OnceLock<Result<Server, Failure>> = OnceLock::new();
    SHARED.get_or_init(|| redis(None)).as_ref()
}

/// Returns a NATS server with JetStream and access to its default account.
pub fn nats(way: Option<Way>) -> Result<Server, Failure> {
    find(&nats::KIND, &Request::for_kind(&nats::KIND, way)?)
}

/// Returns the NATS server of this program, as [`shared_postgres`] does for PostgreSQL.
pub fn shared_nats() -> Result<&'static Server, &'static Failure> {
    static SHARED: OnceLock<Result<Server, Failure>> = OnceLock::new();
    SHARED.get_or_init(|| nats(None)).as_ref()
}

/// Returns a RabbitMQ server with access to its default virtual host.
pub fn rabbitmq(way: Option<Way>) -> Result<Server, Failure> {
    find(&rabbitmq::KIND, &Request::for_kind(&rabbitmq::KIND, way)?)
}

/// Returns the RabbitMQ server of this program, as [`shared_postgres`] does for PostgreSQL.
pub fn shared_rabbitmq() -> Result<&'static Server, &'static Failure> {
    static SHARED: OnceLock<Result<Server, Failure>> = OnceLock::new();
    SHARED.get_or_init(|| rabbitmq(None)).as_ref()
}

/// A request from environment variables or from the caller: for the server at a URL, or for one way to get a server.
struct Request {
    url: Option<String>,
    way: Option<Way>,
}

impl Request {
    fn for_kind(kind: &Kind, way: Option<Way>) -> Result<Self, Failure> {
        let url = env::var(kind.url_variable).ok();
        let way = way.map_or_else(|| forced(env::var(WAY_VARIABLE).ok()), |way| Ok(Some(way)))?;
        Ok(Self { url, way })
    }
}

fn forced(name: Option<String>) -> Result<Option<Way>, Failure> {
    let Some(found) = name else {
        return Ok(None);
    };
    Way::named(&found).map(Some).ok_or(Failure::Way { found })
}

fn find(kind: &'static Kind, request: &Request) -> Result<Server, Failure> {
    let start = Instant::now();
    if let Some(url) = &request.url {
        return given(kind, url, start);
    }
    let mut tried = vec![format!("{} is not set", kind.url_variable)];
    for way in [Way::Docker, Way::Local] {
        if request.way.is_some_and(|only| only != way) {
            continue;
        }
        match started(kind, way) {
            Ok(started) => return server(kind, started, origin(kind, way, &tried[1..]), start),
            Err(failure) if leaves_other_ways(way, &failure) => tried.push(format!("{}: {failure}", way.name())),
            Err(failure) => return Err(failure),
        }
    }
    Err(Failure::NoServer(Box::new(no_server(kind, tried))))
}

fn started(kind: &'static Kind, way: Way) -> Result<Started, Failure> {
    match way {
        Way::Docker => docker::start(kind),
        Way::Local => (kind.local)(),
    }
}

/// Returns whether another way may be tried after this failure.
fn leaves_other_ways(way: Way, failure: &Failure) -> bool {
    // Installed programs that do not start are an error.
    way == Way::Docker || matches!(failure, Failure::NotInstalled { .. })
}

/// Describes where a server comes from. With the feature `docker`, the text for installed programs also says why no
/// container was started.
fn origin(kind: &Kind, way: Way, passed_over: &[String]) -> String {
    match way {
        Way::Docker => format!("from the image {}", kind.image.name().unwrap_or_default()),
        Way::Local if cfg!(feature = "docker") && !passed_over.is_empty() => {
            format!("from local programs ({})", passed_over.join("; "))
        }
        Way::Local => "from local programs".to_owned(),
    }
}

fn given(kind: &Kind, url: &str, start: Instant) -> Result<Server, Failure> {
    let named = |failure| Failure::Given { variable: kind.url_variable, failure: Box::new(failure) };
    let shown = (kind.shown)(url).map_err(named)?;
    let version = (kind.ask)(url).map_err(|error| named(Failure::Unreachable { address: shown, error }))?;
    let nothing: Box<dyn Any + Send + Sync> = Box::new(());
    let started = Started { url: url.to_owned(), version, guard: nothing };
    server(kind, started, format!("named by {}", kind.url_variable), start)
}

fn server(kind: &Kind, started: Started, origin: String, start: Instant) -> Result<Server, Failure> {
    let Started { url, version, guard } = started;
    Ok(Server {
        kind: kind.name,
        variable: kind.url_variable,
        shown: (kind.shown)(&url)?,
        url,
        origin,
        version,
        took: start.elapsed(),
        _guard: guard,
    })
}

fn no_server(kind: &Kind, tried: Vec<String>) -> NoServer {
    NoServer {
        server: kind.name,
        tried,
        url_variable: kind.url_variable,
        image_variable: kind.image.variable,
        image: kind.image.name(),
        install: kind.install,
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::port;
    use crate::server::{Image, Run};

    /// A kind of server whose programs are never installed.
    const NOWHERE: Kind = Kind {
        name: "Nowhere",
        url_variable: "NOWHERE_URL",
        install: "install nowhere",
        image: Image {
            variable: "NOWHERE_IMAGE",
            default: Some("nowhere.invalid/nowhere:1"),
            run: Run { port: 1, environment: &[], command: &[], url: |_, _| String::new() },
        },
        local: || Err(Failure::NotInstalled { server: "Nowhere", install: "install nowhere" }),
        shown: |url| Ok(url.to_owned()),
        ask: |_| Err(io::Error::other("no server listens")),
    };

    const BROKEN: Kind = Kind { local: || Err(Failure::NoFreePort), ..NOWHERE };

    fn wanted(way: Option<Way>) -> Request {
        Request { url: None, way }
    }

    #[test]
    fn a_missing_server_is_a_failure_that_names_three_ways() {
        let text = find(&NOWHERE, &wanted(None)).unwrap_err().to_string();
        for part in ["NOWHERE_URL is not set", "docker: ", "local: Nowhere is not installed", "1. NOWHERE_URL="] {
            assert!(text.contains(part), "{text}");
        }
        assert!(text.contains("2. Docker, with `cargo xtask test --servers docker`"), "{text}");
        assert!(text.contains("NOWHERE_IMAGE") && text.ends_with("install nowhere"), "{text}");
    }

    #[test]
    fn no_other_way_is_tried_if_a_way_is_forced() {
        let text = |way| find(&NOWHERE, &wanted(Some(way))).unwrap_err().to_string();
        assert!(!text(Way::Docker).contains("local: "));
        assert!(!text(Way::Local).contains("docker: "));
    }

    #[test]
    fn a_start_failure_of_installed_programs_is_returned() {
        assert!(matches!(find(&BROKEN, &wanted(None)), Err(Failure::NoFreePort)));
    }

    #[test]
    fn failure_without_a_default_image_names_the_image_variable() {
        const UNNAMED: Image = Image { default: None, ..NOWHERE.image };
        const NO_IMAGE: Kind = Kind { image: UNNAMED, ..NOWHERE };
        let text = find(&NO_IMAGE, &wanted(None)).unwrap_err().to_string();
        assert!(text.contains("--servers docker`: it uses the image that NOWHERE_IMAGE names\n"), "{text}");
    }

    #[test]
    fn url_of_the_amazon_service_is_accepted_without_a_request() {
        let url = Some("dynamodb://eu-west-1/storagebox".to_owned());
        let server = find(&dynamodb::KIND, &Request { url, way: None }).unwrap().to_string();
        let expected = "DynamoDB by Amazon, named by STORAGEBOX_TEST_DYNAMO_URL, dynamodb://eu-west-1/storagebox,";
        assert!(server.starts_with(expected), "{server}");
    }

    #[test]
    fn unreachable_url_fails_without_trying_another_way() {
        let port = port::free().unwrap();
        let url = Some(format!("postgres://ann:secret@127.0.0.1:{port}/namespace"));
        let failure = find(&postgres::KIND, &Request { url, way: Some(Way::Local) }).unwrap_err().to_string();
        assert!(failure.starts_with("STORAGEBOX_TEST_POSTGRES_URL: postgres://ann@127.0.0.1:"), "{failure}");
        assert!(failure.contains("does not answer") && !failure.contains("secret"), "{failure}");
    }

    #[test]
    fn an_unknown_way_is_refused() {
        assert!(matches!(forced(None), Ok(None)));
        assert!(matches!(forced(Some("local".to_owned())), Ok(Some(Way::Local))));
        assert!(matches!(forced(Some("cloud".to_owned())), Err(Failure::Way { .. })));
    }
}
