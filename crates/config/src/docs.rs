//! The page of all keys, generated from their declarations.

use std::fmt::Write;

use crate::reader::{Described, FILE_SUFFIX, Reader};
use crate::source::{Sources, variable};
use crate::{Config, acquirers, crypto};

/// The text that stands in keys for the operator's name of an acquirer, as in `acquirers.NAME.kind`.
const NAME: &str = "NAME";

/// Returns the page `docs/CONFIGURATION.md`.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::from(INTRODUCTION);
    for Described { path, takes, default, is_secret, text } in keys() {
        let file = if is_secret { format!(" or `{path}{FILE_SUFFIX}`") } else { String::new() };
        let default = if default.is_empty() { "–" } else { &default };
        let (variable, takes) = (variable(&path), takes.replace('|', "\\|"));
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| `{path}`{file} | `{variable}` | {takes} | {default} | {text} |");
    }
    page
}

/// Returns the keys of a configuration with a crypto processor, and one acquirer of the name [`NAME`].
pub(crate) fn keys() -> Vec<Described> {
    let sources = Sources::default().with(&format!("{}.{NAME}.kind", acquirers::TABLE), "efi");
    let sources = sources.with(&format!("{}.kind", crypto::TABLE), crypto::NOWPAYMENTS);
    let Ok(figment) = sources.merge() else { return Vec::new() };
    let mut reader = Reader::new(figment);
    // The configuration is incomplete, but each key is described.
    let _incomplete = Config::read(&mut reader, "");
    reader.into_described()
}

const INTRODUCTION: &str = "# Configuration

`cais config docs` generates this page. A test compares the page with the code.

Values are read from the TOML file that `--config` or `CAIS_CONFIG` names. Environment variables override the file. The name of a variable
is `CAIS_` and the key in capitals, with `__` between levels. The smallest configuration is an acquirer with its keys, or the built-in
sandbox (`sandbox = true`, or `cais serve --sandbox`). The default database is SQLite in `./data`. A dash in the table means that the key
has no default.

- `cais config check` lists all mistakes, and exits with 1 if it finds any. `cais serve` makes the same check first, and does not start if
  it finds a mistake. An unknown key is a mistake.
- `cais config print` shows every effective value and its origin. Secrets are masked.
- A secret can be in a file: `master_key_file` instead of `master_key`. White space around the file's content is removed.

```toml
listen = \"0.0.0.0:8080\"
public_url = \"https://pay.example\"
database_url_file = \"/run/secrets/database_url\"
master_key_file = \"/run/secrets/master_key\"

[acquirers.main]
kind = \"efi\"
base_url = \"https://pix.api.efipay.com.br\"
client_id = \"…\"
client_secret_file = \"/run/secrets/client_secret\"
certificate_file = \"/run/secrets/client.pem\"
pix_key = \"71d8a7cf-4a5c-4f0b-9c9c-0a4f1f9d6f0e\"

[crypto]
kind = \"nowpayments\"
api_key_file = \"/run/secrets/crypto_api_key\"
ipn_secret_file = \"/run/secrets/crypto_ipn_secret\"
email = \"pay@example.com\"
password_file = \"/run/secrets/crypto_password\"
totp_secret_file = \"/run/secrets/crypto_totp_secret\"
```

| Key | Environment | Value | Default | Meaning |
|---|---|---|---|---|
";
