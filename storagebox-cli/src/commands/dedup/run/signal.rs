//! Signals for the command. Where there are none, the console tells all of its programs itself.

use crate::interrupt::Caught;

#[cfg(unix)]
pub(super) fn hand_on(process: u32, caught: Caught) {
    use rustix::process::Signal;
    match caught {
        Caught::Interrupt if is_in_the_foreground() => {}
        Caught::Interrupt => send(process, Signal::INT),
        Caught::Terminate => send(process, Signal::TERM),
    }
}

#[cfg(unix)]
pub(super) fn kill(process: u32) {
    send(process, rustix::process::Signal::KILL);
}

/// One that has just ended is told nothing.
#[cfg(unix)]
fn send(process: u32, signal: rustix::process::Signal) {
    let process = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    let _ = process.map(|process| rustix::process::kill_process(process, signal));
}

/// Whether Ctrl-C on the terminal has reached the command too, as it does all of the foreground.
#[cfg(unix)]
fn is_in_the_foreground() -> bool {
    let terminal = std::fs::File::open("/dev/tty");
    let foreground = terminal.and_then(|terminal| Ok(rustix::termios::tcgetpgrp(&terminal)?));
    foreground.is_ok_and(|foreground| foreground == rustix::process::getpgrp())
}

#[cfg(not(unix))]
pub(super) fn hand_on(_: u32, _: Caught) {}

#[cfg(not(unix))]
pub(super) fn kill(_: u32) {}

/// The exit code that stands for how a program ended; a signal's is 128 and its number, as in a shell.
#[cfg(unix)]
pub(super) fn exit_code(status: std::process::ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

#[cfg(not(unix))]
pub(super) fn exit_code(status: std::process::ExitStatus) -> u8 {
    status.code().map_or(u8::MAX, |code| u8::try_from(code).unwrap_or(u8::MAX))
}
