//! Tests with real servers: they need PostgreSQL, psql, PgBouncer, openssl, dynoxide, redis-server and nats-server. The
//! ignored tests need rabbitmq-server.
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
