//! A namespace: its name, and its options.

use std::collections::BTreeSet;
use std::sync::Arc;

use redb::{ReadableTable, TableDefinition};
use storagebox_core::{Error, Namespace, Result};

use crate::client::{Client, Look, Step};
use crate::error::Stepped;

/// The options that namespaces were created with, by kind and name (S-4).
pub(crate) const OPTIONS: TableDefinition<(&str, &str), &str> = TableDefinition::new("options");

/// The maximum number of batch entries that one transaction changes.
const BATCH: usize = 1_000;

/// The namespace of a handle. Each key in the tables begins with the name of the namespace (S-3).
#[derive(Clone, Debug)]
pub(crate) struct Space {
    client: Arc<Client>,
    name: Namespace,
    /// The kind of the namespace and the text of its options, if it has options.
    options: Option<(&'static str, String)>,
}

impl Space {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace) -> Self {
        Self { client: Arc::clone(client), name: name.clone(), options: None }
    }

    pub(crate) fn with_options(self, kind: &'static str, words: String) -> Self {
        Self { options: Some((kind, words)), ..self }
    }

    /// Runs a step that changes the namespace, in one transaction.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        operation: &'static str,
        step: impl FnOnce(&Step, &str) -> Stepped<T> + Send + 'static,
    ) -> Result<T> {
        let space = self.clone();
        let call = move |call: &Step| {
            space.keep_options(call)?;
            step(call, space.name.as_str())
        };
        self.client.write(operation, call).await
    }

    /// Runs a call that only reads, without creating the namespace.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        operation: &'static str,
        look: impl FnOnce(&Look, &str) -> Stepped<T> + Send + 'static,
    ) -> Result<T> {
        let space = self.clone();
        let call = move |call: &Look| {
            space.check_options(&call.table(OPTIONS)?)?;
            look(call, space.name.as_str())
        };
        self.client.read(operation, call).await
    }

    /// Changes each distinct entry of a batch, with several transactions for a long batch.
    pub(crate) async fn each<T, R>(
        &self,
        operation: &'static str,
        batch: &[T],
        change: fn(&Step, &str, &T, &mut R) -> Stepped<()>,
    ) -> Result<R>
    where
        T: Clone + Ord + Send + Sync + 'static,
        R: Copy + Default + Send + 'static,
    {
        let distinct: Vec<T> = batch.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
        let mut report = R::default();
        for (number, part) in distinct.chunks(BATCH).enumerate() {
            let (part, before) = (part.to_vec(), report);
            let step = move |step: &Step, name: &str| {
                let mut report = before;
                part.iter().try_for_each(|entry| change(step, name, entry, &mut report))?;
                Ok(report)
            };
            // Earlier parts are applied even if this part fails, so the error must not say that nothing changed (ER-1).
            let certain = |error: Error| if number == 0 { error } else { error.after_unresolved() };
            report = self.write(operation, step).await.map_err(certain)?;
        }
        Ok(report)
    }

    /// Stores the options of a new namespace, or checks the options of an existing namespace.
    fn keep_options(&self, step: &Step) -> Stepped<()> {
        let Some((kind, words)) = &self.options else { return Ok(()) };
        if !self.check_options(&step.table(OPTIONS)?)? {
            step.edit(OPTIONS)?.insert((*kind, self.name.as_str()), words.as_str())?;
        }
        Ok(())
    }

    /// Returns whether the options of the namespace, if any, are stored. Returns an error if different options are
    /// stored.
    fn check_options(&self, known: &impl ReadableTable<(&'static str, &'static str), &'static str>) -> Stepped<bool> {
        let Some((kind, words)) = &self.options else { return Ok(true) };
        match known.get((*kind, self.name.as_str()))? {
            None => Ok(false),
            Some(created) if created.value() == words => Ok(true),
            Some(created) => {
                let (name, created) = (&self.name, created.value());
                let why = format!("{name:?} was created as {created} and cannot be opened as {words}");
                Err(Error::misconfigured("namespace", why).into())
            }
        }
    }
}
