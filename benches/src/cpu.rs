//! The processor time of this process and of a server, to the nanosecond.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// Returns the processor time of the existing threads of this process, or `None` if the system does not report it.
pub(crate) fn used() -> Option<Duration> {
    let threads = fs::read_dir("/proc/self/task").ok()?;
    threads.map(|thread| scheduled(&thread.ok()?.path())).sum::<Option<u64>>().map(Duration::from_nanos)
}

/// Returns the processor time of the children of a process, including children that have ended.
#[cfg(feature = "postgres")]
pub(crate) fn used_by_children(parent: u32) -> Option<Duration> {
    let stat = |process: &Path| fs::read_to_string(process.join("stat")).ok();
    let processes = fs::read_dir("/proc").ok()?.flatten().map(|process| process.path());
    let children = processes.filter(|process| stat(process).and_then(|stat| parent_of(&stat)) == Some(parent));
    // A child that ends in the meantime is counted among the ended ones.
    let alive: u64 = children.filter_map(|child| scheduled(&child)).sum();
    Some(Duration::from_nanos(alive) + ended_children(&stat(Path::new(&format!("/proc/{parent}")))?)?)
}

fn scheduled(process: &Path) -> Option<u64> {
    nanoseconds(&fs::read_to_string(process.join("schedstat")).ok()?)
}

/// Returns the first field of a `schedstat` file, which is the thread's time on a processor.
fn nanoseconds(schedstat: &str) -> Option<u64> {
    schedstat.split(' ').next()?.parse().ok()
}

/// Returns the fields of a `stat` file after the name of the process.
#[cfg(feature = "postgres")]
fn fields(stat: &str) -> Option<impl Iterator<Item = &str>> {
    // The name may contain spaces and brackets.
    Some(stat.rsplit_once(')')?.1.split_whitespace())
}

#[cfg(feature = "postgres")]
fn parent_of(stat: &str) -> Option<u32> {
    fields(stat)?.nth(1)?.parse().ok()
}

/// Returns the user and system time of the ended children. The times in a `stat` file are hundredths of a second.
#[cfg(feature = "postgres")]
fn ended_children(stat: &str) -> Option<Duration> {
    let hundredths = fields(stat)?.skip(13).take(2).map(|field| field.parse::<u64>().ok());
    hundredths.sum::<Option<u64>>().map(|hundredths| Duration::from_millis(hundredths * 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_the_first_field_of_schedstat() {
        assert_eq!(nanoseconds("1234 56 7\n"), Some(1234));
        assert_eq!(nanoseconds(""), None);
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn process_name_with_brackets_and_spaces_does_not_shift_the_fields() {
        let stat = "7 (a) b) S 5 7 7 0 -1 4 1 2 3 4 10 20 30 40 20 0 1";
        assert_eq!(parent_of(stat), Some(5));
        assert_eq!(ended_children(stat), Some(Duration::from_millis(700)));
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn processor_time_of_children_is_read_from_a_running_process() {
        let parent = std::os::unix::process::parent_id();
        assert!(used_by_children(parent).unwrap() > Duration::ZERO);
    }
}
