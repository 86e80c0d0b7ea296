//! Credentials, host names and CA certificates from the environment of a separate program.

use std::env;
use std::error::Error as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use storagebox_core::{Backend as _, Hold, ItemBank as _, Result};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::Folder;
use tokio::task::spawn_blocking;

use crate::scene::with_place;
use crate::support::{Place, failed, items};

const URL: &str = "STORAGEBOX_TEST_ENVIRONMENT_URL";
/// The environment variable with the path of the file that replaces the profile after the first call.
const THEN: &str = "STORAGEBOX_TEST_ENVIRONMENT_THEN";
const PROFILE: &str = "AWS_CONFIG_FILE";

/// An environment that has only `PATH` from this machine.
struct World {
    folder: Folder,
    pairs: Vec<(&'static str, String)>,
}

impl World {
    fn new() -> Result<Self> {
        let folder = Folder::new("environment").map_err(failed)?;
        let world = Self { folder, pairs: vec![] };
        let profile = world.file("config", "")?;
        let (home, elsewhere) = (world.path(""), world.path("credentials"));
        let path = env::var("PATH").map_err(failed)?;
        let world = world.with("PATH", path).with("HOME", home).with("AWS_SHARED_CREDENTIALS_FILE", elsewhere);
        Ok(world.with(PROFILE, profile).with("AWS_EC2_METADATA_DISABLED", "true"))
    }

    fn with_keys() -> Result<Self> {
        Ok(Self::new()?.with("AWS_ACCESS_KEY_ID", "storagebox").with("AWS_SECRET_ACCESS_KEY", "nothing"))
    }

    fn with_profile(profile: &str) -> Result<Self> {
        let world = Self::new()?;
        world.file("config", profile)?;
        Ok(world)
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.pairs.push((name, value.into()));
        self
    }

    /// Trusts only the CAs in this file.
    fn trusting(self, authorities: &str) -> Result<Self> {
        fs::create_dir_all(self.path("none")).map_err(failed)?;
        let none = self.path("none");
        Ok(self.with("SSL_CERT_FILE", authorities).with("SSL_CERT_DIR", none))
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn file(&self, name: &str, text: &str) -> Result<String> {
        fs::write(self.path(name), text).map_err(failed)?;
        Ok(self.path(name))
    }

    /// Writes a shell script that counts its runs.
    fn script(&self, text: &str) -> Result<String> {
        let script = self.file("script", &format!("#!/bin/sh\necho run >> {}\n{text}\n", self.path("runs")))?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).map_err(failed)?;
        Ok(script)
    }

    fn runs(&self) -> usize {
        fs::read_to_string(self.path("runs")).unwrap_or_default().lines().count()
    }

    /// Starts a program in this environment. Returns the outcomes of its three calls: `ping` and two takes.
    async fn told(&self, url: &str) -> Result<[String; 3]> {
        let mut program = Command::new(env::current_exe().map_err(failed)?);
        program.args(["--exact", "environment::runs_as_a_program_in_its_own_environment", "--ignored", "--nocapture"]);
        program.env_clear().envs(self.pairs.iter().map(|(name, value)| (*name, value.as_str()))).env(URL, url);
        let done = spawn_blocking(move || program.output()).await.map_err(failed)?.map_err(failed)?;
        let said = String::from_utf8(done.stdout).map_err(failed)?;
        let told: Vec<_> = said.lines().filter_map(|line| line.strip_prefix(SAYS)).map(str::to_owned).collect();
        told.try_into().map_err(|_| failed(format_args!("{said} {}", String::from_utf8_lossy(&done.stderr))))
    }
}

const SAYS: &str = "told: ";

/// Prints the kind, the certainty and the message of an error with all its causes.
fn say<T>(answer: Result<T>) {
    let Err(error) = answer else { return println!("\n{SAYS}done") };
    let mut said = format!("{:?} {:?} {error}", error.kind(), error.certainty());
    let mut cause = error.source();
    while let Some(next) = cause {
        said.push_str(&format!(": {next}"));
        cause = next.source();
    }
    println!("\n{SAYS}{}", said.replace('\n', " "));
}

#[ignore = "what a program with an environment of its own does, which cases start"]
#[tokio::test]
async fn runs_as_a_program_in_its_own_environment() -> Result<()> {
    let Ok(url) = env::var(URL) else { return Ok(()) };
    let store = DynamoStore::connect(&url)?;
    say(store.ping().await);
    if let (Ok(then), Ok(profile)) = (env::var(THEN), env::var(PROFILE)) {
        fs::copy(then, profile).map_err(failed)?;
    }
    let bank = store.item_bank(&"namespace".parse()?)?;
    say(bank.take(&"ada".parse()?, Hold::Forever).await);
    say(bank.take(&"bob".parse()?, Hold::Forever).await);
    Ok(())
}

/// Runs a test with the URL of a store over plain HTTP, whose bank has two items.
fn with_url(test: impl AsyncFnOnce(&str) -> Result<()>) -> Result<()> {
    with_place(async |place| {
        place.store().await?.item_bank(&"namespace".parse()?)?.add(&items(2)?).await?;
        test(&url(place)?).await
    })
}

fn url(place: &Place) -> Result<String> {
    let server = place.table.server().ok_or_else(|| failed("a server without an address"))?;
    let (name, prefix) = (&place.name, &place.prefix);
    Ok(format!("dynamodb://us-east-1/{name}?prefix={prefix}&endpoint=http://{server}"))
}

/// A URL at which no server listens.
const NOWHERE: &str = "dynamodb://us-east-1/storagebox?endpoint=http://127.0.0.1:1";

/// Checks that all three calls failed with this kind and these causes, and that none was applied.
#[track_caller]
fn assert_told(told: &[String; 3], kind: &str, causes: &[&str]) {
    for one in told {
        assert!(one.starts_with(&format!("{kind} NotApplied ")), "{told:#?}");
        assert!(causes.iter().all(|cause| one.contains(cause)), "{causes:?}: {told:#?}");
    }
}

const DONE: [&str; 3] = ["done"; 3];

#[test]
fn credentials_come_from_the_program_in_the_profile() -> Result<()> {
    with_url(async |url| {
        let world = World::new()?;
        let keys = "{\"Version\": 1, \"AccessKeyId\": \"storagebox\", \"SecretAccessKey\": \"nothing\"}";
        let script = world.script(&format!("echo '{keys}'"))?;
        world.file("config", &format!("[default]\ncredential_process = {script}\n"))?;
        assert_eq!(world.told(url).await?, DONE);
        assert_eq!(world.runs(), 1);
        Ok(())
    })
}

/// A failed credential process runs only once per call, because the process may prompt a person.
#[tokio::test]
async fn a_failed_credential_process_is_the_cause_of_the_error() -> Result<()> {
    let world = World::new()?;
    for (text, cause) in [
        ("echo 'the vault is closed' >&2; exit 3", "the vault is closed"),
        ("echo 'no keys'", "could not parse response"),
    ] {
        fs::remove_file(world.path("runs")).ok();
        let script = world.script(text)?;
        world.file("config", &format!("[default]\ncredential_process = {script}\n"))?;
        assert_told(&world.told(NOWHERE).await?, "Unavailable", &["the credentials could not be fetched", cause]);
        assert_eq!(world.runs(), 3, "{text}");
    }
    Ok(())
}

/// The call gives up while it waits for the credentials, and sends no request.
#[tokio::test]
async fn a_call_whose_credentials_time_out_is_not_applied() -> Result<()> {
    let world = World::new()?;
    let script = world.script("exec sleep 5")?;
    world.file("config", &format!("[default]\ncredential_process = {script}\n"))?;
    let told = world.told(&format!("{NOWHERE}&call_timeout=1s")).await?;
    assert_told(&told, "Unavailable", &["the credentials could not be fetched", "timed out"]);
    assert_eq!(world.runs(), 3);
    Ok(())
}

#[tokio::test]
async fn an_unusable_profile_is_the_cause_of_each_error() -> Result<()> {
    const SSO: &str = "sso_start_url = https://example.com/start\nsso_region = us-east-1\nsso_account_id = 1\n\
                       sso_role_name = reader\n";
    const SESSION: &str = "[default]\nsso_session = ours\nsso_account_id = 1\nsso_role_name = reader\n\
                           [sso-session ours]\nsso_region = us-east-1\nsso_start_url = https://example.com/start\n";
    for (profile, cause) in [
        (&*format!("[default]\n{SSO}"), "feature(s) enabled: sso"),
        (SESSION, "feature(s) enabled: sso"),
        ("[default]\nlogin_session = arn:aws:iam::1:user/a\n", "feature(s) enabled: credentials-login"),
        ("[default]\nrole_arn = arn:aws:iam::1:role/a\nsource_profile = b\n", "profile `b` was not defined"),
        ("[default]\nrole_arn = arn:aws:iam::1:role/a\n", "neither were defined"),
        ("[default]\nrole_arn = arn:aws:iam::1:role/a\ncredential_source = Vault\n", "`Vault` provider"),
        ("[default\n", "could not parse profile file"),
    ] {
        let told = World::with_profile(profile)?.told(NOWHERE).await?;
        let kind = if cause.contains("was not defined") { "Denied" } else { "Misconfigured" };
        assert_told(&told, kind, &[cause]);
        assert!(kind == "Denied" || told.iter().all(|one| one.contains("SSO and `login_session` are not built in")));
    }
    Ok(())
}

#[tokio::test]
async fn without_credentials_every_call_is_denied() -> Result<()> {
    assert_told(&World::new()?.told(NOWHERE).await?, "Denied", &["there are no credentials"]);
    let elsewhere = World::with_profile("[profile another]\nregion = eu-west-1\n")?.with("AWS_PROFILE", "nowhere");
    assert_told(&elsewhere.told(NOWHERE).await?, "Denied", &["there are no credentials", "`nowhere` was not defined"]);
    Ok(())
}

#[test]
fn a_profile_that_is_corrected_is_read_by_the_next_call() -> Result<()> {
    with_url(async |url| {
        let world = World::with_profile("[default]\nrole_arn = arn:aws:iam::1:role/a\n")?;
        let right = "[default]\naws_access_key_id = storagebox\naws_secret_access_key = nothing\n";
        let then = world.file("then", right)?;
        let told = world.with(THEN, then).told(url).await?;
        assert!(told[0].starts_with("Misconfigured NotApplied "), "{told:#?}");
        assert_eq!(told[1..], DONE[1..]);
        Ok(())
    })
}

/// The file of CA certificates that the environment names is empty.
#[test]
fn a_machine_without_ca_certificates_fails_only_for_https() -> Result<()> {
    with_url(async |url| {
        let world = World::with_keys()?;
        let empty = world.file("empty.pem", "")?;
        let world = world.trusting(&empty)?;
        assert_eq!(world.told(url).await?, DONE);
        let told = world.told(&url.replace("=http://", "=https://")).await?;
        assert_told(&told, "Misconfigured", &["no CA certificates", "SSL_CERT_FILE"]);
        let role = "[default]\nrole_arn = arn:aws:iam::1:role/a\nweb_identity_token_file = /dev/null\n";
        let of_a_role = World::with_profile(role)?.trusting(&empty)?;
        assert_told(&of_a_role.told(url).await?, "Misconfigured", &["no CA certificates"]);
        Ok(())
    })
}

/// An `openssl` server with a self-signed certificate. The server ends when this value is dropped.
struct Secured {
    server: Child,
    folder: Folder,
    address: String,
}

impl Secured {
    fn start(name: &str) -> Result<Self> {
        let folder = Folder::new("secured").map_err(failed)?;
        let mut certify = openssl(folder.path());
        certify.args(["req", "-x509", "-nodes", "-days", "2", "-newkey", "ec"]);
        certify.args(["-subj", &format!("/CN={name}")]);
        certify.args(["-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", "server.key", "-out", "server.crt"]);
        certify.args(["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"]);
        let made = certify.output().map_err(failed)?;
        assert!(made.status.success(), "{made:?}");
        let mut serve = openssl(folder.path());
        serve.args(["s_server", "-accept", "127.0.0.1:0", "-cert", "server.crt", "-key", "server.key", "-www"]);
        let mut server = serve.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let said = BufReader::new(server.stdout.take().expect("a pipe")).lines();
        let mut listens =
            said.map_while(std::result::Result::ok).filter_map(|line| Some(line.strip_prefix("ACCEPT ")?.to_owned()));
        let address = listens.next().ok_or_else(|| failed("openssl does not listen"))?;
        Ok(Self { server, folder, address })
    }

    fn url(&self, host: &str) -> String {
        let port = self.address.rsplit(':').next().unwrap_or_default();
        format!("dynamodb://us-east-1/storagebox?call_timeout=2s&endpoint=https://{host}:{port}")
    }

    fn certificate(&self) -> PathBuf {
        self.folder.path().join("server.crt")
    }
}

impl Drop for Secured {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

fn openssl(folder: &Path) -> Command {
    let mut openssl = Command::new("openssl");
    openssl.current_dir(folder).stderr(Stdio::null());
    openssl
}

#[tokio::test]
async fn a_refused_certificate_is_an_immediate_error_with_its_cause() -> Result<()> {
    let (server, another) = (Secured::start("one")?, Secured::start("another")?);
    let not_trusted = "the server's certificate is not trusted";
    for (trusted, host, cause) in
        [(&another, "127.0.0.1", "UnknownIssuer"), (&server, "localhost", "not valid for name")]
    {
        let world = World::with_keys()?.trusting(&trusted.certificate().display().to_string())?;
        assert_told(&world.told(&server.url(host)).await?, "Misconfigured", &[not_trusted, cause]);
    }
    let world = World::with_keys()?.trusting(&server.certificate().display().to_string())?;
    let told = world.told(&server.url("127.0.0.1")).await?;
    assert!(told.iter().all(|one| !one.contains("certificate")), "{told:#?}");
    Ok(())
}

#[test]
fn https_to_a_server_without_tls_is_misconfigured() -> Result<()> {
    with_url(async |url| {
        let told = World::with_keys()?.told(&url.replace("=http://", "=https://")).await?;
        assert_told(&told, "Misconfigured", &["the TLS handshake failed, or the endpoint has no TLS"]);
        Ok(())
    })
}

/// The first label of the host name is longer than DNS allows, so no DNS server is asked.
#[tokio::test]
async fn an_unknown_host_name_is_an_immediate_error() -> Result<()> {
    let name = format!("{}.invalid", "x".repeat(64));
    let url = format!("dynamodb://us-east-1/storagebox?endpoint=http://{name}");
    let told = World::with_keys()?.told(&url).await?;
    assert_told(&told, "Misconfigured", &["name does not resolve", "lookup address"]);
    Ok(())
}
