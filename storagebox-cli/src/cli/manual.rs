//! The sections of manual pages that the help does not have.

use clap::Command;

/// A section of a manual page: its title and its text.
pub(crate) type Section = (&'static str, &'static str);

const FILES: &str = "\
The first column of each line counts. A field that begins with a double quote is quoted as in any CSV: it ends at the next \
lone quote, \"\" is one quote, and it may hold commas and line breaks. Quotes anywhere else are ordinary characters. Lines \
end with LF or CRLF. Text is UTF-8, compared byte by byte; a byte order mark before a line is skipped.

Without quotes a field may also mean another value, and its line is rejected, if it has a semicolon, a tab or a |, a \
carriage return or another control character, a byte order mark or another character without width, a blank at an end, or \
is written =\"...\". In quotes each of them is a part of the value.

Lines that cannot be used (these, and those that are empty, too long, not UTF-8 or malformed CSV, have U+0000 or repeat \
the header) are counted and listed in the rejects file (file,line,reason); the rest goes on. A file that is no such list, \
or of which no line can be used, is refused.";

const RECORD: &str = "\
A record keeps what the command wrote and its exit code, byte for byte, up to 256 KiB together. A command that writes more is \
run once all the same; later callers then get the exit code 125 instead of the output. Every run that ends by itself is \
recorded, whatever its exit code, unless --retry-failures is given.

The same id with another command line is refused, so that nobody gets the output of something else; --fingerprint names \
what must be the same instead. Standard input goes to the command where it runs.

A run has ended when the command has. Processes that it leaves go on, and nobody waits for them. The output is what was \
written before the end, and what is written within half a second after it if the output is closed by then, or if that is \
more than 8 MiB. What they write later is lost.";

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
SIGTERM, SIGINT (Ctrl-C), SIGHUP, SIGQUIT and SIGALRM are passed on to every process of the command, and what it then does \
is not recorded, not even an exit with 0, which may stand for half of the work: the same command line runs it again. A \
second signal, 100 ms after the first or later, kills them all. A caller that waits for another's run just ends. SIGUSR1 \
and SIGUSR2 are passed on and change nothing. In the foreground of a terminal, which sends SIGINT, SIGHUP and SIGQUIT to \
all processes itself, one that is sent to storagebox alone does not reach the command; SIGTERM does.

Once the command has ended by itself, the first signal has no effect, so that the result is recorded; a second one ends \
storagebox at once.";

pub(crate) fn sections(command: &Command) -> Vec<Section> {
    if command.get_name() == "run" {
        return vec![("RECORD", RECORD), ("CRASHES", CRASHES), ("ENVIRONMENT", ENVIRONMENT), ("SIGNALS", SIGNALS)];
    }
    let reads_lines = command.get_arguments().any(|argument| argument.get_id() == "header");
    if reads_lines { vec![("FILES", FILES)] } else { vec![] }
}
