//! The servers, for real: these tests need PostgreSQL, psql, PgBouncer, openssl, dynoxide, redis-server and nats-server;
//! those that are ignored need rabbitmq-server.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod dynamodb;
mod http;
mod killed;
mod nats;
mod patience;
mod pgbouncer;
mod postgres;
mod psql;
mod rabbitmq;
mod redis;
mod servers;
