//! `completions`, `man`, and the log of `-v`.

use crate::help::COMMANDS;
use crate::support::Place;

#[test]
fn completions_of_every_shell_contain_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ended = Place::new().run(&["completions", shell]).exits(0);
        assert!(ended.stdout.contains("retry-failures"), "{shell}");
        assert_eq!(ended.stderr, "");
    }
    Place::new().run(&["completions", "abacus"]).exits(2);
}

#[test]
fn the_bash_script_completes_subcommands() {
    let place = Place::new();
    let script = place.run(&["completions", "bash"]).exits(0).stdout;
    let complete = "COMP_WORDS=(storagebox dedup r); COMP_CWORD=2; _storagebox storagebox r dedup; \
                    echo ${COMPREPLY[@]}";
    // The script is too long for an argument.
    place.write("script.bash", format!("{script}\n{complete}"));
    let mut bash = std::process::Command::new("bash");
    let output = bash.arg(place.path("script.bash")).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "run record replace\n");
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    let page = place.run(&["man"]).exits(0).stdout;
    assert!(page.starts_with(".ie \\n(.g"), "{page}");
    place.run(&["man", "--dir", "."]).exits(0);
    for &command in COMMANDS {
        let page = place.read(&format!("{}.1", [&["storagebox"], command].concat().join("-")));
        assert!(page.contains(".SH NAME") && !page.contains("Exit codes:"), "{command:?}");
        let has_codes = command.is_empty() || command == ["dedup", "run"];
        assert_eq!(page.matches(".SH \"EXIT STATUS\"").count(), usize::from(has_codes), "{command:?}");
    }
    // The subcommands of `help` are the same commands again.
    let pages = place.names().into_iter().filter(|name| !name.contains("-help"));
    assert_eq!(pages.count(), COMMANDS.len(), "a command is missing in COMMANDS");
}

/// Returns a page as `man` reads it, in one line.
fn page(name: &str) -> String {
    let place = Place::new();
    place.run(&["man", "--dir", "."]).exits(0);
    let page = place.read(&format!("storagebox-{name}.1"));
    page.replace("\\*(Aq", "'").replace('\\', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_page_of_a_run_says_what_is_recorded_after_a_signal_and_after_the_end() {
    let page = page("dedup-run");
    assert!(page.contains("not recorded, not even an exit with 0"), "{page}");
    assert!(page.contains("half a second") && page.contains("What they write later is lost"), "{page}");
    for promised in ["exits with 0, the run is recorded", "has closed the output", "gives up output"] {
        assert!(!page.contains(promised), "{promised}: {page}");
    }
}

#[test]
fn the_page_of_each_command_that_reads_a_file_says_what_needs_quotes() {
    for name in ["bank-load", "bank-reclaim", "token-create", "hand-out"] {
        let page = page(name);
        for needs in ["a semicolon, a tab or a |", "a blank at an end", "another control character", "=\"...\""] {
            assert!(page.contains(needs), "{name}, {needs}: {page}");
        }
        assert!(!page.contains("spaces included"), "{name}: {page}");
    }
}

#[test]
fn verbose_shows_each_call_with_its_time() {
    let count = |verbose: &[&str]| {
        let args = [&["bank", "counts", "b"], verbose].concat();
        Place::new().run(&args).exits(0).stderr
    };
    assert!(!count(&[]).contains("call"));
    let calls = count(&["-v"]);
    assert!(
        calls.contains("call{backend=\"memory\" part=bank operation=\"counts\" namespace=b}")
            && calls.contains("time.busy"),
        "{calls}"
    );
    assert!(!calls.contains("storagebox_memory"), "{calls}");
    let backend = count(&["-vv"]);
    assert!(backend.contains("storagebox_memory::item_bank"), "{backend}");
}

#[test]
fn rust_log_selects_what_is_logged() {
    let place = Place::new();
    let mut command = place.command(&["bank", "counts", "b"]);
    let output = command.env("RUST_LOG", "storagebox_memory=trace").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("storagebox_memory::item_bank") && !said.contains("call{"), "{said}");
}
