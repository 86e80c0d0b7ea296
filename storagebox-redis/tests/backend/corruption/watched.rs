//! The commands of the calls' scripts, as the server reports them to `MONITOR`.

use redis::{Cmd, cmd};
use storagebox_core::Result;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufStream};
use tokio::net::TcpStream;

use crate::support::{Place, failed};

/// A connection to which the server reports every command.
pub(super) struct Watch<'a> {
    place: &'a Place,
    told: BufStream<TcpStream>,
}

/// The text that marks a command of a script in the output of `MONITOR`.
const OF_A_SCRIPT: &str = " lua] ";
/// The text of the command after which `Watch` stops reading.
const END: &str = "that was all";

impl<'a> Watch<'a> {
    pub(super) async fn of(place: &'a Place) -> Result<Self> {
        let told = TcpStream::connect(place.server.address()).await.map_err(failed)?;
        let mut watch = Self { place, told: BufStream::new(told) };
        watch.told.write_all(b"MONITOR\r\n").await.map_err(failed)?;
        watch.told.flush().await.map_err(failed)?;
        watch.line().await?;
        Ok(watch)
    }

    /// Returns the commands of all scripts since the previous call of this function.
    pub(super) async fn commands(&mut self) -> Result<Vec<Cmd>> {
        self.place.server.ask::<String>(cmd("ECHO").arg(END)).await?;
        let mut commands = vec![];
        loop {
            let line = self.line().await?;
            if let Some((_, words)) = line.split_once(OF_A_SCRIPT) {
                commands.push(command(words));
            } else if line.contains(END) {
                return Ok(commands);
            }
        }
    }

    async fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.told.read_line(&mut line).await.map_err(failed)?;
        Ok(line)
    }
}

pub(super) fn words(command: &Cmd) -> Vec<String> {
    let words = command.args_iter().map(|word| match word {
        redis::Arg::Simple(word) => String::from_utf8_lossy(word).into_owned(),
        redis::Arg::Cursor => String::new(),
        _ => unreachable!("commands of scripts have texts alone"),
    });
    words.collect()
}

/// Parses a command from a line: each word is in quotes, and unprintable bytes are escaped.
fn command(line: &str) -> Cmd {
    let mut command = Cmd::new();
    let mut bytes = line.trim_end().bytes();
    while bytes.by_ref().any(|byte| byte == b'"') {
        command.arg(word(&mut bytes));
    }
    command
}

/// Parses a word up to its closing quote.
fn word(bytes: &mut impl Iterator<Item = u8>) -> Vec<u8> {
    let mut word = vec![];
    while let Some(byte) = bytes.next().filter(|byte| *byte != b'"') {
        word.push(if byte == b'\\' { escaped(bytes) } else { byte });
    }
    word
}

fn escaped(bytes: &mut impl Iterator<Item = u8>) -> u8 {
    match bytes.next().unwrap_or_default() {
        b'x' => {
            let digits: String = bytes.take(2).map(char::from).collect();
            u8::from_str_radix(&digits, 16).unwrap_or_default()
        }
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'a' => 7,
        b'b' => 8,
        other => other,
    }
}
