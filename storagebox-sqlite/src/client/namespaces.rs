//! Namespaces: their numbers, and the check that they are opened with the options of their creation (S-3, S-4).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection, query};
use storagebox_core::backend::OrderedRules;
use storagebox_core::{Error, Namespace, Result};
use tokio::time::timeout;

pub(crate) use storagebox_core::backend::NamespaceKind as Kind;

use super::store_info::StoreInfo;
use super::{
    Ask, Batching, BoxFuture, Call, Client, Inner, Make, Once, Pauses, Texts, integrity, library, spawn_detached,
};
use crate::error;

const FOUND: &str = include_str!("../../sql/store/namespace.sql");
const OPEN: &str = include_str!("../../sql/store/open_namespace.sql");

/// The name of a namespace's row in error texts.
const NAMESPACE: &str = "a namespace";

/// A handle on a namespace, whose first call opens the namespace.
#[derive(Debug)]
pub(crate) struct OpenNamespace {
    client: Arc<Client>,
    kind: Kind,
    name: Namespace,
    options: String,
    keeps: Option<i64>,
    /// A flag, shared by all clients, that a committed transaction has opened the namespace.
    is_open: Arc<AtomicBool>,
}

impl OpenNamespace {
    pub(crate) fn new(client: &Arc<Client>, kind: Kind, name: &Namespace) -> Self {
        Self {
            client: Arc::clone(client),
            kind,
            name: name.clone(),
            options: String::new(),
            keeps: None,
            is_open: is_open(client, kind, name, ""),
        }
    }

    /// Sets the stored options. `keeps` is the lifetime of operations or tombstones in microseconds (`None`: for ever).
    pub(crate) fn with_options(mut self, options: String, keeps: Option<i64>) -> Self {
        self.is_open = is_open(&self.client, self.kind, &self.name, &options);
        self.options = options;
        self.keeps = keeps;
        self
    }

    pub(crate) fn name(&self) -> &Namespace {
        &self.name
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        self.client.inner()
    }

    pub(crate) fn is_joined(&self) -> bool {
        self.client.is_joined()
    }

    pub(crate) fn write<A, T>(
        self: &Arc<Self>,
        operation: &'static str,
        arguments: A,
        make: Make<A, T>,
    ) -> BoxFuture<'_, Result<T>>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let call = Call::new(self.inner(), Some(self), arguments, make);
        self.client.write(operation, Batching::Shared, call)
    }

    /// Makes a call with `once` without a transaction, or with `make` in a transaction if `once` returns `None`.
    pub(crate) fn write_at_once<A, T>(
        self: &Arc<Self>,
        operation: &'static str,
        arguments: A,
        once: Once<A, T>,
        make: Make<A, T>,
    ) -> BoxFuture<'_, Result<T>>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let call = Call::new(self.inner(), Some(self), arguments, make).or_at_once(once);
        self.client.write(operation, Batching::Shared, call)
    }

    /// Makes each batch in its own transaction. If a transaction fails, the earlier batches stay applied.
    pub(crate) async fn write_each<T: Send + 'static>(
        self: &Arc<Self>,
        operation: &'static str,
        batches: Vec<Texts>,
        make: Make<Texts, T>,
    ) -> Result<Vec<T>> {
        let mut answers = Vec::with_capacity(batches.len());
        for batch in batches {
            let batching = if batch.is_bulk() { Batching::Alone } else { Batching::Shared };
            let call = Call::new(self.inner(), Some(self), batch, make);
            match self.client.write(operation, batching, call).await {
                Ok(answer) => answers.push(answer),
                Err(error) if answers.is_empty() => return Err(error),
                Err(error) => return Err(error.after_unresolved()),
            }
        }
        Ok(answers)
    }

    /// Runs one reading statement, and returns its rows. The first two arguments of the statement are the namespace's
    /// name and the time before the statement runs.
    pub(crate) async fn look(
        self: &Arc<Self>,
        operation: &'static str,
        sql: &'static str,
        with: impl for<'q> Fn(Ask<'q>) -> Ask<'q> + Send + Sync + 'static,
    ) -> Result<Vec<SqliteRow>> {
        if !self.is_open() {
            self.write(operation, (), |_, ()| Box::pin(async { Ok(()) })).await?;
        }
        let (place, limit) = (Arc::clone(self), self.client.settings().options.call_timeout);
        let ask = move |name: String, now| with(query(sql).bind(name).bind(now));
        if let Some(joined) = &self.client.joined {
            let rows = joined.read(move || ask(place.name.as_str().to_owned(), place.inner().now().0)).await;
            return rows.map_err(|error| error.during(operation));
        }
        let rows = timeout(limit, spawn_detached(async move { place.rows(ask).await })).await;
        let rows = rows.unwrap_or_else(|_| Err(error::not_begun(limit)));
        rows.map_err(|error| error.during(operation))
    }

    async fn rows<'q>(&self, ask: impl Fn(String, i64) -> Ask<'q> + Send + Sync) -> Result<Vec<SqliteRow>> {
        let (inner, mut pauses) = (self.inner(), Pauses::new());
        loop {
            let ask = || ask(self.name.as_str().to_owned(), inner.now().0);
            match inner.connections.look(ask).await {
                Ok(rows) => return Ok(rows),
                Err(error) => inner.connections.passes(error, &pauses)?,
            }
            pauses.wait().await;
        }
    }

    /// Opens or creates the namespace. Returns its number and the store's memory in microseconds (`None`: for ever).
    pub(super) async fn enter(&self, connection: &mut SqliteConnection) -> Result<(i64, Option<i64>)> {
        if self.is_open() {
            return self.enter_beside(connection).await;
        }
        self.check_durability(connection).await?;
        let entered = self.enter_beside(connection).await?;
        integrity::check_on(connection).await.map(|()| entered)
    }

    /// Opens the namespace like `enter`, in a transaction whose connection and tables were already checked.
    pub(super) async fn enter_beside(&self, connection: &mut SqliteConnection) -> Result<(i64, Option<i64>)> {
        let ask = query(FOUND).bind(self.kind.name()).bind(self.name.as_str());
        let found = ask.fetch_all(&mut *connection).await.map_err(error::before_commit)?;
        let found = found.first().ok_or_else(|| error::unreadable(NAMESPACE))?;
        let memory = StoreInfo::of(found)?.check(self.client.settings().options.remember)?;
        let number = match error::read(NAMESPACE, found.try_get("number"))? {
            Some(number) => self.check(found).map(|()| number),
            None => self.register(connection).await,
        };
        Ok((number?, memory))
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::SeqCst)
    }

    async fn register(&self, connection: &mut SqliteConnection) -> Result<i64> {
        let ask = query(OPEN).bind(self.kind.name()).bind(self.name.as_str());
        let ask = ask.bind(self.options.as_str()).bind(self.keeps);
        let made = ask.fetch_all(connection).await.map_err(error::before_commit)?;
        let made = made.first().ok_or_else(|| error::unreadable(NAMESPACE))?;
        error::read(NAMESPACE, made.try_get("number"))
    }

    pub(super) fn opened(&self) {
        self.is_open.store(true, Ordering::SeqCst);
    }

    fn check(&self, found: &SqliteRow) -> Result<()> {
        let created: String = error::read(NAMESPACE, found.try_get("options"))?;
        if OrderedRules::without_skew(&created) == self.options {
            return Ok(());
        }
        let why = format_args!("{:?} was created with {created} and cannot be opened with {}", self.name, self.options);
        Err(Error::misconfigured("namespace", why).on("sqlite"))
    }

    /// Returns an error if the caller's pool is less durable than the store promises.
    async fn check_durability(&self, connection: &mut SqliteConnection) -> Result<()> {
        match self.client.connections().are_shared() {
            true => library::check_shared(connection, self.client.settings().synchronous).await,
            false => Ok(()),
        }
    }
}

fn is_open(client: &Client, kind: Kind, name: &Namespace, options: &str) -> Arc<AtomicBool> {
    let place = client.inner.namespaces.open(kind.name(), name, options.to_owned(), || Ok(AtomicBool::new(false)));
    place.unwrap_or_default()
}
