//! The keys of one test.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use storagebox_testkit::servers;

use super::ready;
use crate::stores::{Served, Store};
use crate::support::Place;

/// A key prefix on a server. Dropping this value deletes the keys with this prefix.
pub(crate) struct Keys {
    server: String,
    prefix: String,
}

impl Keys {
    /// Creates a prefix on the server of this URL, without setup.
    pub(super) fn on(server: &str) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("sbtest_cli_{}_{number}", process::id());
        Self { server: server.trim_end_matches('/').to_owned(), prefix }
    }

    /// Returns the user and the password, if there are any, and the address of the server.
    fn login(&self) -> (&str, &str) {
        let (_, rest) = self.server.split_once("://").unwrap_or_default();
        rest.rsplit_once('@').unwrap_or(("", rest))
    }

    fn ask(&self, line: &str) -> std::io::Result<String> {
        let (login, address) = self.login();
        let mut stream = TcpStream::connect(address)?;
        if let Some((user, password)) = login.split_once(':') {
            let user = if user.is_empty() { "default" } else { user };
            stream.write_all(format!("AUTH {user} {password}\r\n").as_bytes())?;
        }
        stream.write_all(format!("{line}\r\nQUIT\r\n").as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    }
}

impl Store for Keys {
    const BACKEND: &str = "redis";
    const ODD: &str = "}{*: $4 ') redis.call('FLUSHALL') -- \\ \"é\" e\u{301} 🎁";
    const WRONG_URLS: &[(&str, &str)] = ready::WRONG_URLS;

    fn bare() -> Self {
        Self::on(servers::shared_redis().unwrap().url())
    }

    fn url(&self) -> String {
        format!("{}?prefix={}", self.server, self.prefix)
    }

    fn left_by_the_suite(&self) -> Vec<String> {
        let keys = self.ask(&format!("KEYS {}.conform.*", self.prefix)).unwrap();
        keys.lines().filter(|line| line.starts_with(&self.prefix)).map(str::to_owned).collect()
    }

    fn note_of_bare(&self) -> String {
        "there is no store with this prefix".to_owned()
    }
}

impl Served for Keys {
    fn place_at(address: &str) -> Place {
        Place::new().on(&format!("redis://ada:hunter2@{address}"))
    }

    fn address(&self) -> &str {
        self.login().1
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let script = "for _, key in ipairs(redis.call('keys', ARGV[1])) do redis.call('unlink', key) end";
        // A killed server has no keys left.
        let _ = self.ask(&format!("EVAL \"{script}\" 0 {}:*", self.prefix));
    }
}
