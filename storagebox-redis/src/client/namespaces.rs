//! A namespace: its key, and the check that it is opened with the options that it was created with (S-3, S-4).

use std::sync::{Arc, OnceLock};

use storagebox_core::backend::{OrderedRules, SingleFlight};
use storagebox_core::{Error, Namespace, Result};

pub(crate) use storagebox_core::backend::NamespaceKind as Kind;

use super::keys::tag;
use super::store_info::VERSION;
use super::{Answer, Client, ScriptCall};
use crate::error;
use crate::script::{Script, script};

static ENTER: Script = script!("store_enter_namespace", CHANGES, [], "store/enter_namespace").asking_for_all();
static OPEN: Script = script!("store_open_namespace", CHANGES, [], "store/open_namespace").asking_for_all();
static MARK: Script = script!("store_mark_namespace", CHANGES, [], "store/mark_namespace").asking_for_all();

/// Returns the letter that stands for the kind in keys.
pub(crate) fn letter(kind: Kind) -> &'static str {
    &kind.name()[..1]
}

pub(crate) fn kind_of(tag: &str) -> Option<Kind> {
    let found = tag.split('.').next()?;
    Kind::ALL.into_iter().find(|kind| letter(*kind) == found)
}

/// A namespace that is opened by its first call.
#[derive(Debug)]
pub(crate) struct OpenNamespace {
    client: Arc<Client>,
    name: Namespace,
    tag: String,
    key: String,
    options: String,
    keeps: Option<u64>,
    opened: OnceLock<()>,
    opening: SingleFlight,
}

impl OpenNamespace {
    pub(crate) fn new(client: &Arc<Client>, kind: Kind, name: &Namespace) -> Self {
        let tag = tag(letter(kind), name);
        let key = client.settings().prefix.of(&tag);
        let (client, name) = (Arc::clone(client), name.clone());
        let (opened, opening) = (OnceLock::new(), SingleFlight::default());
        Self { client, name, tag, key, options: String::new(), keeps: None, opened, opening }
    }

    /// Sets the stored options. `keeps` is the lifetime of operations in microseconds, or of tombstones in
    /// milliseconds.
    pub(crate) fn with_options(mut self, options: String, keeps: Option<u64>) -> Self {
        self.options = options;
        self.keeps = keeps;
        self
    }

    pub(crate) fn client(&self) -> &Arc<Client> {
        &self.client
    }

    /// Opens the namespace if it is not open, and returns a call of the script.
    pub(crate) async fn call<'a>(&'a self, script: &'static Script) -> Result<ScriptCall<'a>> {
        Ok(ScriptCall::new(script, self.key().await?).in_epoch(self.client.epoch()))
    }

    /// Opens the namespace if it is not open, and returns its key.
    pub(crate) async fn key(&self) -> Result<&str> {
        if self.opened.get().is_none() {
            // Boxed to keep the future small: every call contains the futures that it may wait for.
            Box::pin(self.open()).await?;
        }
        Ok(&self.key)
    }

    /// Opens the namespace in two round trips, or creates the namespace in three. Several clients may do so at once,
    /// with the same result.
    async fn open(&self) -> Result<()> {
        let _turn = self.opening.next().await;
        if self.opened.get().is_some() {
            return Ok(());
        }
        let was_made = self.enter().await?;
        self.make(was_made).await?;
        if !was_made {
            self.mark().await?;
        }
        self.opened.get_or_init(|| ());
        Ok(())
    }

    /// Enters the namespace's name in the store. Returns whether the namespace was already created in this epoch.
    async fn enter(&self) -> Result<bool> {
        let enter = ScriptCall::new(&ENTER, self.client.store()).with(VERSION).with(self.tag.as_str());
        let enter = enter.with(self.client.epoch());
        let answer = self.client.enter("open", &enter).await?;
        Ok(answer.text(3)? == self.client.epoch())
    }

    /// Creates the namespace. Returns an error if the namespace was created in this epoch (`was_made`) and is now
    /// missing.
    async fn make(&self, was_made: bool) -> Result<()> {
        let open = ScriptCall::new(&OPEN, &self.key).with(self.options.as_str()).with(self.keeps);
        let open = open.with(self.client.epoch()).with(was_made).with(self.client.store_in_reach());
        let answer = self.client.settle("open", || self.client.answer(&open)).await?;
        self.check(&answer)
    }

    async fn mark(&self) -> Result<()> {
        let mark = ScriptCall::new(&MARK, self.client.store()).with(VERSION).with(self.client.epoch());
        self.client.enter("open", &mark.with(self.tag.as_str())).await.map(drop)
    }

    fn check(&self, answer: &Answer) -> Result<()> {
        match answer.text(1)? {
            "" => return Err(error::lost(&self.key).during("open")),
            epoch if epoch == self.client.epoch() => {}
            _ => return Err(error::of_another_epoch(&self.key).during("open")),
        }
        let created = answer.text(0)?;
        if OrderedRules::without_skew(created) == self.options {
            return Ok(());
        }
        let why = format_args!("{:?} was created with {created} and cannot be opened with {}", self.name, self.options);
        Err(Error::misconfigured("namespace", why).on("redis"))
    }
}
