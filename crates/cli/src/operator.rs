//! The person at the command line, for the audit log.

use std::fs;
use std::os::unix::fs::MetadataExt;

use cais_ports::Actor;

/// The Linux file with the name of the machine.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";

/// Returns the operator of this process: the given name, otherwise the user of the operating system.
#[must_use]
pub fn of_process(given: Option<&str>) -> Actor {
    let host = fs::read_to_string(HOST_NAME).map_or_else(|_| "unknown".to_owned(), |name| name.trim().to_owned());
    Actor { name: given.map_or_else(user, str::to_owned), source: "cli".to_owned(), host }
}

/// Returns the user that runs this process; behind `sudo`, the user who called it.
fn user() -> String {
    let caller = std::env::var("SUDO_USER").ok().filter(|name| !name.is_empty());
    caller.unwrap_or_else(|| {
        let uid = fs::metadata("/proc/self").map_or_else(|_| "unknown".to_owned(), |process| process.uid().to_string());
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        name_of(&uid, &users).map_or_else(|| format!("uid {uid}"), str::to_owned)
    })
}

/// Returns the name of a user from the table of users: `name:password:uid:…`.
fn name_of<'t>(uid: &str, users: &'t str) -> Option<&'t str> {
    users.lines().find_map(|line| {
        let mut parts = line.split(':');
        let name = parts.next()?;
        (parts.nth(1)? == uid).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::{name_of, of_process};

    #[test]
    fn operator_is_the_option_or_the_user() {
        assert_eq!(of_process(Some("ana")).name, "ana");
        assert!(!of_process(None).name.is_empty());
        let users = "root:x:0:0:root:/root:/bin/sh\nana:x:1000:1000::/home/ana:/bin/sh\nbroken";
        assert_eq!(name_of("1000", users), Some("ana"));
        assert_eq!(name_of("1001", users), None);
    }
}
