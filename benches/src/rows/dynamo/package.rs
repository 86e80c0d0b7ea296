//! Takes with article 1's Python package, in a separate process.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use storagebox_testkit::python;
use tokio::task::block_in_place;

use super::CALLERS;
use super::server::Server;
use super::tables::Tables;
use crate::error::{Failure, Result};
use crate::row::{Load, Prepared, Side, Work};
use crate::rows::side::side;

/// A process that runs the Python package and waits between measurements.
struct Package {
    server: Server,
    tables: Tables,
    process: Mutex<Process>,
}

struct Process {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Package {
    async fn new(server: Server, items: usize) -> Result<Self> {
        let python = block_in_place(python::with_the_package_of_article_1).map_err(Failure::NoFloor)?;
        let (tables, endpoint) = (Tables::new(&server, items).await?, server.endpoint().await?);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rows/dynamo/package.py");
        let mut command = Command::new(python);
        command.arg(script).args([&tables.items, &tables.records]).arg(CALLERS.to_string());
        // The server accepts any credentials.
        command.env("AWS_ACCESS_KEY_ID", "storagebox").env("AWS_SECRET_ACCESS_KEY", "nothing");
        command.env("AWS_DEFAULT_REGION", "us-east-1").env("AWS_ENDPOINT_URL", endpoint);
        let process = block_in_place(|| Process::start(&mut command)).map_err(Failure::Process)?;
        Ok(Self { server, tables, process: Mutex::new(process) })
    }

    /// Makes all calls of a measurement with the threads of the Python process.
    async fn run(&self, load: Load) -> Result<()> {
        let question = format!("{} {}", load.slice, load.calls);
        let answer = block_in_place(|| {
            let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
            process.ask(&question)
        });
        let answer = answer.map_err(Failure::Process)?;
        let requests = answer.parse().map_err(|_| Failure::NotNew { answer })?;
        self.server.add_requests(requests).await
    }
}

impl Process {
    fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let answers = child.stdout.take().map(BufReader::new).ok_or(io::ErrorKind::BrokenPipe)?;
        let mut process = Self { child, answers };
        match process.answer()?.as_str() {
            "ready" => Ok(process),
            other => Err(io::Error::other(other.to_owned())),
        }
    }

    fn ask(&mut self, question: &str) -> io::Result<String> {
        let mut input = self.child.stdin.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        input.write_all(format!("{question}\n").as_bytes())?;
        self.answer()
    }

    fn answer(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn takes(server: &Server, items: usize) -> Side {
    let make = move |server: Server| Package::new(server, items);
    side(server, make, |package: Arc<Package>, load| async move {
        package.tables.refill(load).await?;
        let world = Box::new(Arc::clone(&package));
        let work: Work = Box::pin(async move { package.run(load).await });
        Ok(Prepared { tasks: vec![work], world })
    })
}
