//! Recovery codes. At a login, each can be entered once instead of a code of the authenticator.

use cais_ports::{SecretHash, User, Write};
use jiff::Timestamp;

use super::{Browser, Logins, Visitor};
use crate::audit::{self, AuditedChange};

/// The `purpose` argument of the keyed hash of a recovery code.
const PURPOSE: &str = "dashboard-recovery";
/// The number of recovery codes of a user.
const CODES: usize = 10;
/// The characters of recovery codes. Characters that look alike are left out.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// The number of characters in a recovery code. Together they are 60 random bits.
const CHARS: usize = 12;

/// Returns new recovery codes, in groups of four characters, and their hashes.
pub(super) fn draw(logins: &Logins) -> (Vec<String>, Vec<SecretHash>) {
    let keyed_hash = &logins.ports.keyed_hash;
    (0..CODES)
        .map(|_| {
            let mut random = [0; CHARS];
            keyed_hash.fill_random(&mut random);
            let letter = |byte: &u8| ALPHABET.get(usize::from(byte & 31)).copied().map_or('a', char::from);
            let plain: String = random.iter().map(letter).collect();
            let shown = plain.as_bytes().chunks(4).map(String::from_utf8_lossy).collect::<Vec<_>>().join("-");
            (shown, keyed_hash.hash(PURPOSE, plain.as_bytes()))
        })
        .unzip()
}

/// Uses the recovery code `text`. Returns the hashes of the other codes. Returns `None` if `recovery` does not contain
/// the hash of `text`.
pub(super) fn without(logins: &Logins, recovery: &[SecretHash], text: &str) -> Option<Vec<SecretHash>> {
    // Separators are ignored: they only make the code easier to read.
    let characters = text.chars().filter(char::is_ascii_alphanumeric);
    let plain: String = characters.map(|character| character.to_ascii_lowercase()).collect();
    let is_used = |hash: &SecretHash| logins.ports.keyed_hash.verify(PURPOSE, plain.as_bytes(), hash);
    let left: Vec<SecretHash> = recovery.iter().filter(|hash| !is_used(hash)).copied().collect();
    (left.len() < recovery.len()).then_some(left)
}

/// Returns the audit row for the replacement of the recovery codes.
pub(super) fn renewal(logins: &Logins, browser: &Browser, visitor: &Visitor, at: Timestamp) -> Write {
    let User { id, role, .. } = &visitor.user;
    let audited = AuditedChange {
        action: "user.renew_recovery_codes",
        subject: id.to_string(),
        account: role.account(),
        before: None,
        after: None,
    };
    audit::record(&logins.ports, &visitor.actor(browser), at, audited)
}
