//! The server of all rows, and a database per side.

use std::collections::HashSet;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use futures_util::future::BoxFuture;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, query_scalar, raw_sql};
use storagebox_testkit::postgres::{Postgres, Settings};
use tokio::sync::{Mutex, MutexGuard, OnceCell};
use tokio::task::block_in_place;

use super::template;
use crate::cpu;
use crate::effort::{Effort, Meter};
use crate::error::Result;

/// A server that is started when it is first used.
#[derive(Clone, Default)]
pub(super) struct Cluster(Arc<OnceCell<Arc<Server>>>);

pub(super) struct Server {
    postgres: Postgres,
    process: u32,
    admin: Mutex<PgConnection>,
    /// The sizes of the template databases that exist, in items.
    templates: Mutex<HashSet<usize>>,
    names: AtomicU64,
    used: std::sync::Mutex<Vec<String>>,
}

impl Cluster {
    pub(super) async fn server(&self) -> Result<&Arc<Server>> {
        self.0.get_or_try_init(|| async { Server::start().await.map(Arc::new) }).await
    }

    /// Creates a database with a bank of this many items, as a copy of a template database.
    pub(super) async fn database(&self, items: usize) -> Result<Database> {
        let server = self.server().await?;
        let mut templates = server.templates.lock().await;
        let template = format!("items_{items}");
        if templates.insert(items) {
            template::fill(&server.create(&template, "template0").await?, items).await?;
        }
        let name = format!("side_{}", server.names.fetch_add(1, Ordering::Relaxed));
        server.create(&name, &template).await
    }
}

impl Meter for Cluster {
    fn read(&self) -> BoxFuture<'_, Result<Effort>> {
        Box::pin(async { self.server().await?.effort().await })
    }
}

impl Server {
    /// Starts a server that makes no checkpoints during a measurement.
    async fn start() -> Result<Self> {
        let settings = Settings::durable().with("shared_buffers", "1GB").with("max_wal_size", "8GB");
        let postgres = block_in_place(|| Postgres::start(&settings.with("checkpoint_timeout", "1h")))?;
        let mut admin = PgConnectOptions::from_str(&postgres.url())?.connect().await?;
        let process = "SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)::integer";
        let process: i32 = query_scalar(process).fetch_one(&mut admin).await?;
        Ok(Self {
            postgres,
            process: process.unsigned_abs(),
            admin: Mutex::new(admin),
            templates: Mutex::default(),
            names: AtomicU64::default(),
            used: std::sync::Mutex::default(),
        })
    }

    async fn admin(&self) -> MutexGuard<'_, PgConnection> {
        self.admin.lock().await
    }

    async fn effort(&self) -> Result<Effort> {
        let log = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint";
        let log: i64 = query_scalar(log).fetch_one(&mut *self.admin().await).await?;
        Ok(Effort { cpu: cpu::used_by_children(self.process), log: Some(log.unsigned_abs()), requests: None })
    }

    /// Drops the databases that are no longer used, and then creates a database.
    async fn create(self: &Arc<Self>, name: &str, template: &str) -> Result<Database> {
        let used = std::mem::take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner));
        for name in used {
            self.run(format!("DROP DATABASE {name} WITH (FORCE)")).await?;
        }
        self.run(format!("CREATE DATABASE {name} TEMPLATE {template}")).await?;
        self.checkpoint().await?;
        Ok(Database { server: Arc::clone(self), name: name.to_owned() })
    }

    pub(super) async fn checkpoint(&self) -> Result<()> {
        self.run("CHECKPOINT".to_owned()).await
    }

    pub(super) async fn run(&self, sql: String) -> Result<()> {
        self.admin().await.execute(raw_sql(AssertSqlSafe(sql))).await?;
        Ok(())
    }
}

/// A database, which is deleted some time after this value is dropped.
pub(super) struct Database {
    server: Arc<Server>,
    name: String,
}

impl Database {
    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn url(&self) -> String {
        let url = self.server.postgres.url();
        format!("{}/{}", url.rsplit_once('/').map_or("", |(server, _)| server), self.name)
    }

    pub(super) fn options(&self) -> Result<PgConnectOptions> {
        Ok(PgConnectOptions::from_str(&self.url())?)
    }

    /// Runs a statement on a separate connection.
    pub(super) async fn run(&self, sql: &'static str) -> Result<()> {
        self.options()?.connect().await?.execute(raw_sql(sql)).await?;
        Ok(())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let mut used = self.server.used.lock().unwrap_or_else(PoisonError::into_inner);
        if self.name.starts_with("side_") {
            used.push(self.name.clone());
        }
    }
}
