//! What is said to people, on standard error: coloured on a terminal alone, and never in the way of an answer.

use std::fmt::Arguments;
use std::io::{self, Write};

use console::Style;
use serde_json::Value;

use crate::terminal;
use crate::text::{printable, printable_lines};

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
pub(crate) fn eprint_message(kind: Kind, message: Arguments<'_>) {
    let name = kind.style().apply_to(kind.name());
    let message = printable(&message.to_string());
    let _unread = writeln!(io::stderr(), "{name}: {message}");
}

/// The same for a text of several lines. All but the first are indented, so that none looks like another message.
pub(crate) fn eprint_lines(kind: Kind, message: &str) {
    let name = kind.style().apply_to(kind.name());
    let _unread = writeln!(io::stderr(), "{name}: {}", indented(message));
}

fn indented(message: &str) -> String {
    printable_lines(message).trim_end().replace('\n', "\n  ")
}

/// The same for a program: one object on a line.
pub(crate) fn eprint_json(object: &Value) {
    let mut to = terminal::stderr(true);
    let _unread = writeln!(to, "{object}").and_then(|()| to.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_message_stay_lines_and_forge_no_message() {
        let shown = indented("take_is_unique: it broke\nerror: forged\u{1b}[2J\n\tseed 7\n");
        assert_eq!(shown, "take_is_unique: it broke\n  error: forged\\u{1b}[2J\n  \tseed 7");
    }
}
