//! A certificate for the server, and an authority that signed it.

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
";

pub(super) fn make(scratch: &Scratch) -> Result<(), Failure> {
    scratch.write("openssl.cnf", CONFIGURATION)?;
    certify(scratch, "authority", &[])?;
    certify(scratch, "server", &["-CA", "authority.crt", "-CAkey", "authority.key"])
}

/// A key and a certificate of this name, signed by itself if no signer is named.
fn certify(scratch: &Scratch, name: &str, signer: &[&str]) -> Result<(), Failure> {
    let mut openssl = scratch.command(Path::new("openssl"));
    openssl.args(["req", "-x509", "-config", "openssl.cnf", "-extensions", name, "-days", "3650", "-nodes"]);
    openssl.args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]);
    openssl.args(["-subj", &format!("/CN=storagebox test {name}")]);
    openssl.args(["-keyout", &format!("{name}.key"), "-out", &format!("{name}.crt")]).args(signer);
    scratch.run(&mut openssl)
}

pub(super) fn authority(scratch: &Scratch) -> PathBuf {
    scratch.path("authority.crt")
}

pub(super) fn settings(scratch: &Scratch) -> [String; 3] {
    let file = |name| scratch.path(name).display().to_string();
    [
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", file("server.crt")),
        format!("ssl_key_file={}", file("server.key")),
    ]
}
