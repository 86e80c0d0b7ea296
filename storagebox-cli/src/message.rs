//! Messages for people on standard error, coloured only on a terminal.

use std::fmt::Arguments;
use std::io::{self, Write};

use console::Style;
use serde_json::Value;

use crate::terminal;
use crate::text::{printable, printable_lines};

/// The kind of a message, which is printed before the text.
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

/// Writes a line to standard error, and ignores a failure to write the line.
pub(crate) fn eprint_message(kind: Kind, message: Arguments<'_>) {
    // The crate `console` decides about colours, from the terminal and from `NO_COLOR`, `CLICOLOR` and
    // `CLICOLOR_FORCE`.
    let name = kind.style().apply_to(kind.name());
    // Escapes texts from outside, such as paths, commands and values from the store.
    let message = printable(&message.to_string());
    let _unread = writeln!(io::stderr(), "{name}: {message}");
}

/// Writes a message of several lines.
pub(crate) fn eprint_lines(kind: Kind, message: &str) {
    let name = kind.style().apply_to(kind.name());
    let _unread = writeln!(io::stderr(), "{name}: {}", indented(message));
}

fn indented(message: &str) -> String {
    // No line after the first may look like the start of another message.
    printable_lines(message).trim_end().replace('\n', "\n  ")
}

pub(crate) fn eprint_json(object: &Value) {
    let mut to = terminal::stderr(true);
    let _unread = writeln!(to, "{object}").and_then(|()| to.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_message_do_not_look_like_other_messages() {
        let shown = indented("take_is_unique: it broke\nerror: forged\u{1b}[2J\n\tseed 7\n");
        assert_eq!(shown, "take_is_unique: it broke\n  error: forged\\u{1b}[2J\n  \tseed 7");
    }
}
