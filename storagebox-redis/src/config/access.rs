//! Logins and certificates. Debug output shows no password, certificate or key.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use redis::ConnectionInfo;
#[cfg(feature = "cluster")]
use redis::{ClientTlsConfig, TlsCertificates};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use storagebox_core::Result;

use super::RedisBuilder;
use crate::error::bad;

/// A user of the server and the user's password.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    user: Option<String>,
    password: String,
}

impl Login {
    /// Creates the login of a user with a password.
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self { user: Some(user.into()), password: password.into() }
    }

    /// Creates the login of the server's default user.
    pub fn with_password(password: impl Into<String>) -> Self {
        Self { user: None, password: password.into() }
    }

    /// Returns the server's connection settings, but with this login.
    pub(crate) fn of(&self, server: &ConnectionInfo) -> ConnectionInfo {
        let settings = server.redis_settings().clone().set_password(&self.password);
        let settings = match &self.user {
            Some(user) => settings.set_username(user),
            None => settings,
        };
        server.clone().set_redis_settings(settings)
    }
}

/// Shows only the user.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

type Asking = Pin<Box<dyn Future<Output = Result<Login>> + Send>>;

/// A function of the program that returns the login for each new connection.
#[derive(Clone)]
pub(crate) struct Asked(Arc<dyn Fn() -> Asking + Send + Sync>);

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asked(..)")
    }
}

/// The login and the certificates that are not part of the driver's connection settings.
#[derive(Clone, Default)]
pub(crate) struct Access {
    /// The CA that signed the server's certificate, in PEM. `None` means the CAs that the machine trusts.
    authority: Option<Vec<u8>>,
    /// The client's certificate and its private key, in PEM.
    own: Option<(Vec<u8>, Vec<u8>)>,
    asked: Option<Asked>,
    #[cfg(feature = "sentinel")]
    pub(crate) sentinels: Option<Login>,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}

impl Access {
    /// Returns the login for a new connection, or `None` if the login is in the connection settings.
    pub(crate) async fn login(&self) -> Result<Option<Login>> {
        match &self.asked {
            Some(Asked(ask)) => ask().await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns whether the login can change.
    pub(crate) fn changes(&self) -> bool {
        self.asked.is_some()
    }

    #[cfg(feature = "cluster")]
    pub(crate) fn certificates(&self) -> Option<TlsCertificates> {
        let (root_cert, own) = (self.authority.clone(), self.own.clone());
        let client_tls = own.map(|(client_cert, client_key)| ClientTlsConfig { client_cert, client_key });
        (root_cert.is_some() || client_tls.is_some()).then_some(TlsCertificates { client_tls, root_cert })
    }
}

impl Access {
    /// Returns the TLS settings, with the ciphers that the process has chosen, or else with those of `ring`.
    pub(crate) fn tls(&self) -> Result<ClientConfig> {
        let chosen = CryptoProvider::get_default().cloned();
        let provider = chosen.unwrap_or_else(|| Arc::new(rustls::crypto::ring::default_provider()));
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config
            .map_err(|error| bad("tls", "has no version that the ciphers of the process support").caused_by(error))?;
        let config = config.with_root_certificates(self.roots()?);
        let Some((certificate, key)) = &self.own else {
            return Ok(config.with_no_client_auth());
        };
        let chain = certificates_in("client certificate", certificate)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| bad("key", UNREADABLE).caused_by(error))?;
        config.with_client_auth_cert(chain, key).map_err(|error| bad("client certificate", UNREADABLE).caused_by(error))
    }

    /// Returns the configured CA, or the CAs that the machine trusts.
    fn roots(&self) -> Result<RootCertStore> {
        let mut roots = RootCertStore::empty();
        let Some(authority) = &self.authority else {
            let machine = rustls_native_certs::load_native_certs();
            let (added, _) = roots.add_parsable_certificates(machine.certs);
            let none = || bad("authority", "is not set, and the machine trusts no CA; set `tls_ca_cert_file`");
            return if added > 0 { Ok(roots) } else { Err(none()) };
        };
        for certificate in certificates_in("authority", authority)? {
            roots.add(certificate).map_err(|error| bad("authority", UNREADABLE).caused_by(error))?;
        }
        Ok(roots)
    }
}

const UNREADABLE: &str = "cannot be read";

fn certificates_in(setting: &'static str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    found.map_err(|error| bad(setting, UNREADABLE).caused_by(error))
}

impl RedisBuilder {
    /// Sets the certificate, in PEM, of the CA that signed the certificates of servers with TLS. Defaults to the CAs
    /// that the machine trusts. The URL key is `tls_ca_cert_file`.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if `pem` contains no certificate.
    pub fn authority(mut self, pem: &[u8]) -> Result<Self> {
        self.access.authority = Some(checked("authority", pem, "CERTIFICATE")?);
        Ok(self)
    }

    /// Sets the client certificate and its key, both in PEM. The store presents them to a server with TLS, to each node
    /// of a cluster, and to sentinels. The URL keys are `tls_cert_file` and `tls_key_file`.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if there is no certificate or no key in them.
    pub fn client_certificate(mut self, certificate: &[u8], key: &[u8]) -> Result<Self> {
        let certificate = checked("client certificate", certificate, "CERTIFICATE")?;
        self.access.own = Some((certificate, checked("key", key, "PRIVATE KEY")?));
        Ok(self)
    }

    /// Sets a function that returns the user and the password for each new connection, in place of those in the URL.
    /// Use it if they change from time to time. If the function fails, the call fails with its error.
    ///
    /// An open connection stays open until the server ends it. The next connection calls the function again.
    #[must_use]
    pub fn credentials<F>(mut self, ask: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Login>> + Send + 'static,
    {
        self.access.asked = Some(Asked(Arc::new(move || Box::pin(ask()))));
        self
    }

    /// Sets the login for the sentinels, which do not use the login of the nodes. Defaults to none. The URL keys are
    /// `sentinel_user` and `sentinel_password`.
    #[cfg(feature = "sentinel")]
    #[must_use]
    pub fn sentinel_login(mut self, login: Login) -> Self {
        self.access.sentinels = Some(login);
        self
    }
}

fn checked(setting: &'static str, pem: &[u8], what: &str) -> Result<Vec<u8>> {
    let ends = format!("{what}-----");
    match pem.windows(ends.len()).any(|window| window == ends.as_bytes()) {
        true => Ok(pem.to_vec()),
        false => Err(bad(setting, format_args!("holds no {} in PEM", what.to_ascii_lowercase()))),
    }
}
