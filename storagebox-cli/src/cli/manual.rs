//! The sections of manual pages that the help does not have.

use clap::Command;

/// A section of a manual page: its title and its text.
pub(crate) type Section = (&'static str, &'static str);

const FILES: &str = "\
The first column of each line counts, and everything in it, spaces included. A field that begins with a double quote is \
quoted as in any CSV: it ends at the next lone quote, \"\" is one quote, and it may hold commas and line breaks. Quotes \
anywhere else are ordinary characters, so plain word lists need no quoting unless a line begins with a quote or holds a \
comma. Lines end with LF or CRLF. Text is UTF-8, compared byte by byte; a byte order mark at the start of a file is \
skipped.

Lines that cannot be used (empty, too long, U+0000, not UTF-8, malformed CSV) are counted and listed in the rejects file \
(file,line,reason); the rest goes on.";

const RECORD: &str = "\
A record keeps what the command wrote and its exit code, byte for byte, up to 256 KiB together. A command that writes more is \
run once all the same; later callers then get the exit code 125 instead of the output. Every run is recorded, whatever \
its exit code, unless --retry-failures is given.

The same id with another command line is refused, so that nobody gets the output of something else; --fingerprint names \
what must be the same instead. Standard input goes to the command where it runs. A run has ended when the command has, \
and everything that it started has closed the output.";

const CRASHES: &str = "\
While the command runs, its lease is extended every third of --lease. If this process dies, the lease expires, and one of \
the waiting callers runs the command again and says so; what the dead one had started may still be running then. The \
command finds the number of its run in STORAGEBOX_FENCE, which is greater in each later run of the id, so that others can \
refuse an older one, and its id in STORAGEBOX_ID.";

const ENVIRONMENT: &str = "\
The command gets the environment of storagebox, except STORAGEBOX_URL, which may hold a password: what a command writes is recorded \
for everybody who asks. With --pass-url it is kept. A storagebox in the command that is given no URL refuses to guess \
one. Other keys and passwords, such as PGPASSWORD and those of AWS, stay, because they may be the command's own.";

const SIGNALS: &str = "\
Ctrl-C and SIGTERM are passed on to the command, and a second one kills it. If it then exits with 0, the run is recorded; \
otherwise nothing is, and the same command line runs it again. Once the command has ended, the first signal gives up \
output that something else holds open. A caller that waits for another's run just ends.";

pub(crate) fn sections(command: &Command) -> Vec<Section> {
    if command.get_name() == "run" {
        return vec![("RECORD", RECORD), ("CRASHES", CRASHES), ("ENVIRONMENT", ENVIRONMENT), ("SIGNALS", SIGNALS)];
    }
    let reads_lines = command.get_arguments().any(|argument| argument.get_id() == "header");
    if reads_lines { vec![("FILES", FILES)] } else { vec![] }
}
