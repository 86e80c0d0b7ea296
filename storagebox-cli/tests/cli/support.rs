//! Runs the real binary in a directory of its own.

use std::collections::{HashMap, HashSet};
use std::io::Write;
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::{fs, thread};

use storagebox_testkit::Folder;
use tempfile::TempDir;

pub(crate) const FILES: [&str; 6] = ["--items", "items.csv", "--ids", "ids.csv", "--out", "given.csv"];

/// The parent of the folder of each test, which is deleted when the test program ends or is killed.
static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new("cli").unwrap());

pub(crate) fn folder() -> TempDir {
    TempDir::new_in(FOLDER.path()).unwrap()
}

/// Where the commands of a test run: a folder, and the environment variables with the URL of the store.
pub(crate) struct Place {
    directory: TempDir,
    /// The URL of the store in the environment of each run.
    url: Option<String>,
    /// Further variables of each run.
    variables: Vec<(&'static str, &'static str)>,
}

pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A line of the output file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) id: String,
    pub(crate) item: String,
    pub(crate) outcome: String,
}

impl Place {
    /// Returns a place with the URL `memory:`, so that each run has its own store.
    pub(crate) fn new() -> Self {
        Self { directory: folder(), url: Some("memory:".to_owned()), variables: vec![] }
    }

    /// Returns a place without a URL, where no store exists.
    #[cfg(feature = "sqlite")]
    pub(crate) fn without_url() -> Self {
        Self { url: None, ..Self::new() }
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn folder(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn with(items: impl AsRef<[u8]>, ids: impl AsRef<[u8]>) -> Self {
        let place = Self::new();
        place.write("items.csv", items);
        place.write("ids.csv", ids);
        place
    }

    pub(crate) fn on(self, url: &str) -> Self {
        Self { url: Some(url.to_owned()), ..self }
    }

    /// Makes the commands reach the server by the address `way`.
    #[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
    pub(crate) fn by(self, server: &str, way: SocketAddr) -> Self {
        Self { url: self.url.map(|url| url.replace(server, &way.to_string())), ..self }
    }

    #[cfg(any(feature = "dynamo", feature = "postgres"))]
    pub(crate) fn knowing(self, variables: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        Self { variables: variables.into_iter().collect(), ..self }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn command<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_storagebox"));
        command.args(args).current_dir(self.directory.path()).env_remove("STORAGEBOX_URL");
        command.envs(self.url.as_ref().map(|url| ("STORAGEBOX_URL", url)));
        command.envs(self.variables.iter().copied());
        command
    }

    pub(crate) fn run<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Ended {
        self.command(args).stdin(Stdio::null()).output().unwrap().into()
    }

    /// Runs `hand-out` on the three usual files.
    pub(crate) fn hand_out(&self, more: &[&str]) -> Ended {
        self.run(&[&["hand-out", "items"], &FILES[..], more].concat())
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &[u8]) -> Ended {
        let mut command = self.command(args);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(input).unwrap());
            child.wait_with_output().unwrap().into()
        })
    }

    pub(crate) fn given(&self, name: &str) -> Vec<Given> {
        let mut reader = csv::Reader::from_path(self.path(name)).unwrap();
        assert_eq!(reader.headers().unwrap(), vec!["id", "item", "outcome"]);
        let given = |row: csv::StringRecord| Given {
            id: row[0].to_owned(),
            item: row[1].to_owned(),
            outcome: row[2].to_owned(),
        };
        reader.records().map(|row| given(row.unwrap())).collect()
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("ended by a signal"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Returns a figure of the audit table.
    #[track_caller]
    pub(crate) fn figure(&self, key: &str) -> u64 {
        let lines = || self.stdout.lines().filter_map(|line| line.strip_prefix(key));
        let figure = lines().next().unwrap_or_else(|| panic!("no {key} in\n{}", self.stdout));
        figure.trim().parse().unwrap()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// Returns the path of a file of the sample data.
pub(crate) fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data").join(name)
}

/// Asserts that each id has one item on all its lines, no item has two ids, and at most one line of an id is `new`.
#[track_caller]
pub(crate) fn assert_exactly_once(given: &[Given]) {
    let mut item_of = HashMap::new();
    for line in given.iter().filter(|line| !line.item.is_empty()) {
        assert_eq!(item_of.entry(&line.id).or_insert(&line.item), &&line.item, "{}", line.id);
    }
    let items: HashSet<_> = item_of.values().collect();
    assert_eq!(items.len(), item_of.len(), "an item has two ids");
    let new: Vec<_> = given.iter().filter(|line| line.outcome == "new").map(|line| &line.id).collect();
    assert_eq!(new.iter().collect::<HashSet<_>>().len(), new.len(), "an id is new twice");
    assert!(given.iter().all(|line| line.item.is_empty() == (line.outcome == "empty")));
}
