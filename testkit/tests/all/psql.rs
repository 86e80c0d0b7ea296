//! Clients of a PostgreSQL server that use `psql`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Executes the statements one by one with `psql`. Returns the answers of the server, or the errors that `psql` prints.
pub(crate) fn ask(url: &str, statements: &[&str]) -> Result<String, String> {
    let mut psql = Command::new("psql");
    psql.args(["-XAtq", url]).args(statements.iter().flat_map(|statement| ["-c", statement]));
    let output = psql.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// A session of `psql` that stays open.
pub(crate) struct Session {
    psql: Child,
    statements: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Session {
    pub(crate) fn open(url: &str) -> Self {
        let mut psql = Command::new("psql");
        psql.args(["-XAtq", url]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut psql = psql.spawn().unwrap();
        let (statements, answers) = (psql.stdin.take().unwrap(), BufReader::new(psql.stdout.take().unwrap()));
        Self { psql, statements, answers }
    }

    /// Sends a statement without waiting for its answer.
    pub(crate) fn tell(&mut self, statement: &str) {
        writeln!(self.statements, "{statement}").unwrap();
    }

    /// Sends a statement and returns its answer, which must be one line.
    pub(crate) fn ask(&mut self, statement: &str) -> String {
        self.tell(statement);
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        answer.trim_end().to_owned()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.psql.kill().unwrap();
        self.psql.wait().unwrap();
    }
}
