//! A namespace: its number, and the check that it is opened the way it was created (S-3, S-4).

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sha2::{Digest, Sha256};
use sqlx::Row;
use sqlx::postgres::PgRow;
use storagebox_core::backend::{OrderedRules, micros_of};
use storagebox_core::{Error, Namespace, Result};
use tokio::sync::Mutex;
use tokio::time::timeout;

pub(crate) use storagebox_core::backend::NamespaceKind as Kind;

use super::store_info::{Found, VERSION, new_epoch};
use super::{Client, FunctionCall, Opened, Progress};
use crate::error::read;

/// The longest wait for another call that is opening the same namespace.
const OPEN_TIMEOUT: Duration = Duration::from_millis(500);

const OPEN: &str = "open_namespace";

/// A namespace that is opened by the first call on it.
#[derive(Debug)]
pub(crate) struct OpenNamespace {
    client: Arc<Client>,
    number: i64,
    kind: Kind,
    name: Namespace,
    options: String,
    keeps: Option<i64>,
    committed: Arc<OnceLock<Opened>>,
    /// The namespace that a joined call opened in a transaction that may be rolled back.
    uncommitted: OnceLock<Opened>,
    turn: Mutex<()>,
}

impl OpenNamespace {
    pub(crate) fn new(client: &Arc<Client>, kind: Kind, name: &Namespace) -> Self {
        Self {
            client: Arc::clone(client),
            number: hash(&format!("{}:{name}", kind.name())),
            kind,
            name: name.clone(),
            options: String::new(),
            keeps: None,
            committed: client.place_of(kind, name, ""),
            uncommitted: OnceLock::new(),
            turn: Mutex::default(),
        }
    }

    /// Sets the options of the namespace. `keeps` is the age in microseconds from which upkeep may delete a row; `None`
    /// for never.
    pub(crate) fn with_options(mut self, options: String, keeps: Option<i64>) -> Self {
        self.committed = self.client.place_of(self.kind, &self.name, &options);
        self.options = options;
        self.keeps = keeps;
        self
    }

    pub(crate) fn client(&self) -> &Arc<Client> {
        &self.client
    }

    /// Returns the number and the epoch of the namespace. The first call registers the namespace, which costs one round
    /// trip.
    pub(crate) async fn opened(&self) -> Result<Opened> {
        match self.known() {
            Some(opened) => Ok(opened),
            // Boxed, because the future of every call would contain this one.
            None => Box::pin(self.first_opened()).await,
        }
    }

    async fn first_opened(&self) -> Result<Opened> {
        // The wait is bounded, because the call that holds the lock may be neither polled nor dropped. Opening a
        // namespace twice does no harm.
        let _turn = timeout(OPEN_TIMEOUT, self.turn.lock()).await;
        if let Some(opened) = self.known() {
            return Ok(opened);
        }
        let opened = self.open().await?;
        let place = if self.client.is_joined() { &self.uncommitted } else { &*self.committed };
        Ok(*place.get_or_init(|| opened))
    }

    fn known(&self) -> Option<Opened> {
        self.committed.get().or_else(|| self.uncommitted.get()).copied()
    }

    async fn open(&self) -> Result<Opened> {
        let memory = self.client.settings().options.remember;
        let call = FunctionCall::rows(OPEN)
            .with(VERSION)
            .with(self.client.epoch())
            .with(memory.and_then(micros_of))
            .with(memory.is_none())
            .with(self.number)
            .with(new_epoch())
            .with(self.kind.name())
            .with(self.name.as_str())
            .with(self.options.as_str())
            .with(self.keeps);
        let open = self.client.settle("open", || async { self.check(&self.client.row(&call).await?) });
        // The call's own progress does not include opening the namespace.
        Progress::default().scope(open).await
    }

    fn check(&self, row: &PgRow) -> Result<Opened> {
        self.client.check_store(Found::of(OPEN, row)?.info()?)?;
        let text = |column: &str| read::<String>(OPEN, row.try_get(column));
        if text("kind")? != self.kind.name() || text("name")? != self.name.as_str() {
            return Err(Error::misconfigured(
                "namespace",
                "has a name with the same hash as the name of another namespace; choose another name",
            )
            .on("postgres"));
        }
        let created = text("options")?;
        if OrderedRules::without_skew(&created) == self.options {
            return Ok(Opened { number: self.number, epoch: read(OPEN, row.try_get("made"))? });
        }
        let why = format_args!("{:?} was created with {created} and cannot be opened with {}", self.name, self.options);
        Err(Error::misconfigured("namespace", why).on("postgres"))
    }
}

/// Returns the first eight bytes of the text's SHA-256.
pub(crate) fn hash(text: &str) -> i64 {
    // The hash is stored, so it must never change.
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(first)
}
