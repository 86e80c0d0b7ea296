//! What is said to people, on standard error: coloured on a terminal alone, and never in the way of an answer.

use std::fmt::Arguments;
use std::io::{self, Write};

use console::Style;
use serde_json::Value;

use crate::terminal;
use crate::text::printable;

/// What sort of message it is; its name stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Error,
    Cause,
    Help,
    Note,
    Warning,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Cause => "cause",
            Self::Help => "help",
            Self::Note => "note",
            Self::Warning => "warning",
        }
    }

    fn style(self) -> Style {
        let style = Style::new().bold().for_stderr();
        match self {
            Self::Error => style.red(),
            Self::Warning => style.yellow(),
            Self::Help => style.green(),
            Self::Cause | Self::Note => style,
        }
    }
}

/// Writes a line to standard error. Nobody may be reading it, which is no reason to fail.
///
/// Here and nowhere else the texts of others (paths, commands, what a store has kept) become harmless to a terminal.
///
/// `console` decides on the colour: a terminal, and what `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` say.
pub(crate) fn say(kind: Kind, message: Arguments<'_>) {
    let name = kind.style().apply_to(kind.name());
    let message = printable(&message.to_string());
    let _unread = writeln!(io::stderr(), "{name}: {message}");
}

/// The same for a program: one object on a line.
pub(crate) fn say_json(object: &Value) {
    let mut to = terminal::stderr(true);
    let _unread = writeln!(to, "{object}").and_then(|()| to.flush());
}
