//! Settings that are valid but probably a mistake. `config check` prints them, and `serve` logs each under a stable
//! name.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cais_secrets::MASTER_KEY_FILE;

use crate::{AcquirerKind, Config};

/// Read permission for users outside the file's group.
const OTHERS_READ: u32 = 0o004;
/// Write permission for group and others.
const OTHERS_WRITE: u32 = 0o022;

/// The name of the warning about a file with a secret that every user of the machine can read.
pub const SECRET_FILE_READABLE: &str = "secret_file_readable";
/// The name of the warning about a client certificate that expires soon. The crate `app`, which reads certificates, adds this warning.
pub const CERTIFICATE_EXPIRES: &str = "certificate_expires";
/// The stable names of all warnings, in the log and in the output of `config check`.
pub const NAMES: [&str; 10] = [
    "master_key_weak",
    SECRET_FILE_READABLE,
    "data_dir_writable",
    "database_unencrypted",
    "admin_listen_open",
    "public_url_insecure",
    "webhooks_unrestricted",
    "efi_without_certificate",
    CERTIFICATE_EXPIRES,
    "rate_limits_not_shared",
];

/// A setting that is probably a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The stable name, one of [`NAMES`].
    pub name: &'static str,
    /// The configuration key.
    pub key: String,
    /// The risk and its remedy; never a secret.
    pub what: String,
}

/// Returns all warnings about a configuration without mistakes.
#[must_use]
pub fn warnings(config: &Config) -> Vec<Warning> {
    let mut found = Vec::new();
    let mut warn = |name, key: &str, what: String| found.push(Warning { name, key: key.to_owned(), what });
    if config.master_key.as_ref().is_some_and(cais_secrets::MasterKey::is_weak) {
        let what = "repeats few bytes and can be guessed: make one with `openssl rand -hex 32`";
        warn("master_key_weak", "master_key", what.to_owned());
    }
    for (key, file) in secret_files(config) {
        if has_mode(Path::new(&file), OTHERS_READ) {
            let what = format!("`{file}` can be read by every user of this machine: `chmod o-r` it");
            warn(SECRET_FILE_READABLE, &key, what);
        }
    }
    if has_mode(&config.data_dir, OTHERS_WRITE) {
        let what = format!("`{}` can be written by other users: `chmod go-w` it", config.data_dir.display());
        warn("data_dir_writable", "data_dir", what);
    }
    if config.database_url.is_remote_without_tls() {
        let what = "reaches another machine without TLS: add `sslmode=verify-full`";
        warn("database_unencrypted", "database_url", what.to_owned());
    }
    if !config.database_url.is_sqlite() && config.redis_url.is_none() {
        let what =
            "is not set: each node counts the requests of an API key for itself, each up to `rate_limit_per_minute`";
        warn("rate_limits_not_shared", "redis_url", what.to_owned());
    }
    if !config.admin_listen.ip().is_loopback() {
        let what =
            "can be reached from other machines, and metrics need no key: permit only your monitoring to reach it";
        warn("admin_listen_open", "admin_listen", what.to_owned());
    }
    if let Some(what) = public_url_risk(config) {
        warn("public_url_insecure", "public_url", what.to_owned());
    }
    if !config.sandbox {
        let settings = &config.webhooks;
        let set = [
            ("webhooks.allow_insecure", settings.allow_insecure),
            ("webhooks.allow_addresses", !settings.allow_addresses.is_empty()),
        ];
        for (key, _) in set.iter().filter(|(_, is_set)| *is_set) {
            let what = "is for development: with real money, webhooks are sent only over https to public addresses";
            warn("webhooks_unrestricted", key, what.to_owned());
        }
    }
    for acquirer in &config.acquirers {
        let is_bare = acquirer.kind == AcquirerKind::Efi && acquirer.certificate_file.is_none();
        // An acquirer with plain http is a simulator on this machine and needs no certificate.
        if is_bare && acquirer.base_url.starts_with("https://") {
            let key = format!("acquirers.{}.certificate_file", acquirer.name);
            let what = "is not set, and Efí requires a client certificate: every call would fail";
            warn("efi_without_certificate", &key, what.to_owned());
        }
    }
    found
}

/// Returns the risk of the public URL. Returns `None` if the URL is safe, or if no real acquirer is configured: an acquirer with plain http
/// is a simulator on this machine.
fn public_url_risk(config: &Config) -> Option<&'static str> {
    if !config.acquirers.iter().any(|acquirer| acquirer.base_url.starts_with("https://")) {
        return None;
    }
    match &config.public_url {
        Some(url) if url.starts_with("https://") => None,
        Some(_) => {
            Some("is not https: passwords, session cookies and callbacks are sent unencrypted: set the `https` URL")
        }
        None => Some(
            "is not set: acquirers cannot reach the service, and the dashboard accepts forms of any host: set the `https` URL",
        ),
    }
}

/// Returns the files that hold secrets, each with its key.
fn secret_files(config: &Config) -> Vec<(String, String)> {
    let named = config.effective.iter().filter(|entry| entry.is_secret_file && !entry.value.is_empty());
    let made = config.data_dir.join(MASTER_KEY_FILE);
    let made = config.master_key.is_none().then(|| ("data_dir".to_owned(), made.display().to_string()));
    named.map(|entry| (entry.key.clone(), entry.value.clone())).chain(made).collect()
}

/// Returns `true` if the file has one of these permissions. A missing file has none.
fn has_mode(path: &Path, mode: u32) -> bool {
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & mode != 0)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::Sources;

    fn kinds(variables: &[(&str, &str)]) -> Vec<&'static str> {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let config = Config::load(&Sources { variables, ..Sources::default() }).unwrap();
        let found = warnings(&config);
        assert!(found.iter().all(|warning| NAMES.contains(&warning.name)), "{found:?}");
        found.iter().map(|warning| warning.name).collect()
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn probable_mistakes_have_warnings() {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret");
        fs::write(&secret, "hush").unwrap();
        set_mode(&secret, 0o600);
        let (data_dir, secret) = (folder.path().display().to_string(), secret.display().to_string());
        let good = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
        let live = [
            ("CAIS_DATA_DIR", data_dir.as_str()),
            ("CAIS_MASTER_KEY", good),
            ("CAIS_ACQUIRERS__MAIN__KIND", "efi"),
            ("CAIS_ACQUIRERS__MAIN__CLIENT_ID", "id"),
            ("CAIS_ACQUIRERS__MAIN__CLIENT_SECRET_FILE", secret.as_str()),
            ("CAIS_ACQUIRERS__MAIN__CERTIFICATE_FILE", secret.as_str()),
            ("CAIS_ACQUIRERS__MAIN__BASE_URL", "https://bank.example"),
            ("CAIS_PUBLIC_URL", "https://pay.example"),
            ("CAIS_ACQUIRERS__MAIN__PIX_KEY", "71d8a7cf-4a5c-4f0b-9c9c-0a4f1f9d6f0e"),
        ];
        let with = |name: &'static str, value: &'static str| {
            let others = live.iter().filter(|(other, _)| *other != name).copied();
            kinds(&others.chain([(name, value)]).collect::<Vec<_>>())
        };
        assert_eq!(kinds(&live), [""; 0]);
        assert_eq!(
            with("CAIS_MASTER_KEY", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
            ["master_key_weak"]
        );
        let remote = with("CAIS_DATABASE_URL", "postgres://cais@db.example/cais");
        assert_eq!(remote, ["database_unencrypted", "rate_limits_not_shared"]);
        let local = ("CAIS_DATABASE_URL", "postgres://cais@127.0.0.1/cais");
        let with_redis = [local, ("CAIS_MASTER_KEY", good), ("CAIS_REDIS_URL", "redis://127.0.0.1")];
        assert_eq!(kinds(&with_redis[..2]), ["rate_limits_not_shared"]);
        assert_eq!(kinds(&with_redis), [""; 0]);
        assert_eq!(with("CAIS_ADMIN_LISTEN", "0.0.0.0:9180"), ["admin_listen_open"]);
        assert_eq!(with("CAIS_PUBLIC_URL", "http://pay.example"), ["public_url_insecure"]);
        let without_url: Vec<_> = live.iter().filter(|(name, _)| *name != "CAIS_PUBLIC_URL").copied().collect();
        assert_eq!(kinds(&without_url), ["public_url_insecure"]);
        let sandbox = [("CAIS_DATA_DIR", data_dir.as_str()), ("CAIS_SANDBOX", "true")];
        assert_eq!(kinds(&sandbox), [""; 0]);
        assert_eq!(with("CAIS_WEBHOOKS__ALLOW_INSECURE", "true"), ["webhooks_unrestricted"]);
        assert_eq!(with("CAIS_WEBHOOKS__ALLOW_ADDRESSES", "10.0.0.0/8"), ["webhooks_unrestricted"]);
        let bare: Vec<_> = live.iter().filter(|(name, _)| !name.contains("CERTIFICATE")).copied().collect();
        assert_eq!(kinds(&bare), ["efi_without_certificate"]);
        set_mode(Path::new(&secret), 0o644);
        assert_eq!(kinds(&live), ["secret_file_readable"; 2]);
        set_mode(Path::new(&secret), 0o640);
        set_mode(folder.path(), 0o770);
        assert_eq!(kinds(&live), ["data_dir_writable"]);
    }

    #[test]
    fn warnings_match_the_operations_page() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/OPERATIONS.md");
        let page = fs::read_to_string(page).unwrap();
        let section = page.split("\n## Probable slips\n").nth(1).unwrap().split("\n## ").next().unwrap();
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
        let documented = rows.map(|(name, _)| name).filter(|name| *name != "warning");
        assert_eq!(documented.collect::<Vec<_>>(), NAMES);
    }
}
