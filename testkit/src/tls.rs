//! A certificate for the server, and the authority that signed it.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::scratch::Scratch;

const CONFIGURATION: &str = "\
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical,CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = IP:127.0.0.1,DNS:localhost
[client]
basicConstraints = critical,CA:FALSE
extendedKeyUsage = clientAuth
";

pub(crate) fn make(scratch: &Scratch) -> Result<(), Failure> {
    scratch.write("openssl.cnf", CONFIGURATION)?;
    certify(scratch, "authority", &[])?;
    for name in ["server", "client"] {
        certify(scratch, name, &["-CA", "authority.crt", "-CAkey", "authority.key"])?;
    }
    Ok(())
}

/// Creates a key and a certificate with this name. Without `signer`, the certificate is self-signed.
fn certify(scratch: &Scratch, name: &str, signer: &[&str]) -> Result<(), Failure> {
    let mut openssl = scratch.command(Path::new("openssl"));
    openssl.args(["req", "-x509", "-config", "openssl.cnf", "-extensions", name, "-days", "3650", "-nodes"]);
    openssl.args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]);
    openssl.args(["-subj", &format!("/CN=storagebox test {name}")]);
    openssl.args(["-keyout", &format!("{name}.key"), "-out", &format!("{name}.crt")]).args(signer);
    scratch.run(&mut openssl)
}

pub(crate) fn authority(scratch: &Scratch) -> PathBuf {
    scratch.path("authority.crt")
}

pub(crate) fn server(scratch: &Scratch) -> (PathBuf, PathBuf) {
    (scratch.path("server.crt"), scratch.path("server.key"))
}

pub(crate) fn client(scratch: &Scratch) -> (PathBuf, PathBuf) {
    (scratch.path("client.crt"), scratch.path("client.key"))
}
