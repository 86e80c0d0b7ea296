//! Credentials as the SDK finds them: in the environment, in profiles, from the container or the machine.

use std::sync::Mutex;
use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::{BehaviorVersion, ConfigLoader, Region};
use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider, future};
use storagebox_core::backend::url::plain;

use super::http::ByScheme;
use crate::lock::lock;

/// Returns the SDK's loader of configuration, with fixed retry settings.
pub(super) fn loader(region: &str, http: &ByScheme) -> ConfigLoader {
    // Without fixed retry settings, the SDK panics if a variable or a profile names a retry mode of another SDK.
    let config = aws_config::defaults(BehaviorVersion::v2026_01_12()).retry_config(RetryConfig::standard());
    config.region(Region::new(region.to_owned())).http_client(http.clone())
}

type Result<T, E = CredentialsError> = std::result::Result<T, E>;

/// The SDK's sources of credentials. They are created again after a configuration error, because the SDK reports such
/// an error only once, and does not notice a corrected profile.
#[derive(Debug)]
pub(super) struct Found {
    region: String,
    http: ByScheme,
    /// The timeout of one fetch of credentials, which is shorter than the timeout of the call.
    limit: Duration,
    sources: Mutex<Option<SharedCredentialsProvider>>,
}

impl Found {
    pub(super) fn new(region: &str, http: &ByScheme, limit: Duration) -> Self {
        Self { region: region.to_owned(), http: http.clone(), limit, sources: Mutex::default() }
    }

    async fn in_time(&self) -> Result<Credentials> {
        match tokio::time::timeout(self.limit, self.credentials()).await {
            Ok(answer) => answer,
            Err(_) => self.fallback_on_interrupt().ok_or_else(|| CredentialsError::provider_timed_out(self.limit)),
        }
    }

    async fn credentials(&self) -> Result<Credentials> {
        let answer = self.sources().await?.provide_credentials().await.and_then(signing);
        if answer.as_ref().is_err_and(is_of_configuration) {
            self.set(None);
        }
        answer
    }

    async fn sources(&self) -> Result<SharedCredentialsProvider> {
        if let Some(sources) = self.known() {
            return Ok(sources);
        }
        let sources = loader(&self.region, &self.http).load().await.credentials_provider();
        let sources = sources.ok_or_else(|| CredentialsError::not_loaded("the SDK has no source of credentials"))?;
        self.set(Some(sources.clone()));
        Ok(sources)
    }

    fn known(&self) -> Option<SharedCredentialsProvider> {
        lock(&self.sources).clone()
    }

    fn set(&self, sources: Option<SharedCredentialsProvider>) {
        *lock(&self.sources) = sources;
    }
}

/// Checks that a request can be signed with the credentials.
fn signing(found: Credentials) -> Result<Credentials> {
    let texts = [
        ("the id of the access key", Some(found.access_key_id())),
        ("the secret access key", Some(found.secret_access_key())),
        ("the session token", found.session_token()),
    ];
    for (what, text) in texts.into_iter().filter_map(|(what, text)| Some((what, text?))) {
        // The SDK copies the id and the token into a header, and panics if one of them contains a line end.
        plain(what, text).map_err(|error| CredentialsError::invalid_configuration(error.message().to_owned()))?;
        if !text.is_ascii() {
            return Err(CredentialsError::invalid_configuration(format!("{what} has characters that are not ASCII")));
        }
    }
    Ok(found)
}

/// Returns whether a change to the configuration can correct the error.
fn is_of_configuration(error: &CredentialsError) -> bool {
    use CredentialsError::{CredentialsNotLoaded, InvalidConfiguration, Unhandled};
    matches!(error, CredentialsNotLoaded(_) | InvalidConfiguration(_) | Unhandled(_))
}

impl ProvideCredentials for Found {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(self.in_time())
    }

    fn fallback_on_interrupt(&self) -> Option<Credentials> {
        self.known()?.fallback_on_interrupt()
    }
}
