//! The keys of one test.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use storagebox_testkit::redis::Redis;
use storagebox_testkit::servers;

use crate::support::Place;

/// A prefix on a server. What is under it goes with this value.
pub(super) struct Keys {
    server: String,
    prefix: String,
}

impl Keys {
    /// On the server of this test program, not set up.
    pub(super) fn bare() -> Self {
        Self::on(servers::shared_redis().unwrap().url())
    }

    /// On the server of this test program, set up.
    pub(super) fn ready() -> Self {
        Self::bare().set_up()
    }

    /// On a server of its own, set up.
    pub(super) fn ready_on(server: &Redis) -> Self {
        Self::on(&server.url()).set_up()
    }

    fn on(server: &str) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("sbtest_cli_{}_{number}", process::id());
        Self { server: server.trim_end_matches('/').to_owned(), prefix }
    }

    fn set_up(self) -> Self {
        self.place().run(&["setup"]).exits(0);
        self
    }

    pub(super) fn url(&self) -> String {
        format!("{}?prefix={}", self.server, self.prefix)
    }

    pub(super) fn place(&self) -> Place {
        Place::new().on(&self.url())
    }

    /// The same commands, by another way to the server.
    pub(super) fn place_by(&self, way: SocketAddr) -> Place {
        Place::new().on(&self.url().replace(self.address(), &way.to_string()))
    }

    pub(super) fn address(&self) -> &str {
        let (_, rest) = self.server.split_once("://").unwrap_or_default();
        rest.rsplit_once('@').unwrap_or(("", rest)).1
    }

    /// What the server says to a line.
    pub(super) fn ask(&self, line: &str) -> std::io::Result<String> {
        let (_, rest) = self.server.split_once("://").unwrap_or_default();
        let (login, address) = rest.rsplit_once('@').unwrap_or(("", rest));
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

impl Drop for Keys {
    fn drop(&mut self) {
        let script = "for _, key in ipairs(redis.call('keys', ARGV[1])) do redis.call('unlink', key) end";
        // A server that was killed has kept nothing.
        let _ = self.ask(&format!("EVAL \"{script}\" 0 {}:*", self.prefix));
    }
}
