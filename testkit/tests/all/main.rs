//! The servers, for real: these tests need PostgreSQL, psql, PgBouncer, openssl, dynoxide and redis-server.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod dynamodb;
mod http;
mod killed;
mod patience;
mod pgbouncer;
mod postgres;
mod psql;
mod redis;
mod servers;
