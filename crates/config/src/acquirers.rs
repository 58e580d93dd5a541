//! The acquirers of a configuration.

use std::path::PathBuf;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::pix_key::PixKey;
use cais_ports::Secret;

use super::reader::Reader;
use super::url;

/// The name of the built-in sandbox, which no configured acquirer may have.
pub const SANDBOX: &str = "sandbox";

/// Upper limit of the generation, far above real use.
const MAX_GENERATION: u32 = 1_000_000;

/// The interface of an acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcquirerKind {
    /// The Central Bank's API Pix: charges and refunds.
    Bacen,
    /// The Central Bank's API Pix and Efí's cash-out: also payouts.
    Efi,
}

impl AcquirerKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Bacen, Self::Efi];

    /// Returns the name in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bacen => "bacen",
            Self::Efi => "efi",
        }
    }
}

/// An acquirer with the Central Bank's API Pix, or an extension of it.
#[derive(Debug, Clone)]
pub struct AcquirerConfig {
    /// The acquirer's interface.
    pub kind: AcquirerKind,
    /// The acquirer's name in the ledger, the records and the logs.
    pub name: AcquirerName,
    /// The base of its API, without `/v2` and without a slash at the end.
    pub base_url: String,
    /// Address that issues tokens; `None` is `/oauth/token` under `base_url`.
    pub token_url: Option<String>,
    /// The `OAuth2` client.
    pub client_id: String,
    /// Its secret.
    pub client_secret: Secret,
    /// PEM or PKCS#12 of the client certificate and its key.
    pub certificate_file: Option<PathBuf>,
    /// Opens a PKCS#12 file.
    pub certificate_passphrase: Option<Secret>,
    /// PEM of the certificates that authenticate the acquirer.
    pub ca_file: Option<PathBuf>,
    /// The Pix key that charges are paid to.
    pub pix_key: PixKey,
    /// Generation of the callback address, counted from 0.
    pub callback_generation: u32,
}

/// Reads every acquirer; the ones that are wrong are left out and noted.
pub fn read(reader: &mut Reader) -> Vec<AcquirerConfig> {
    reader.names("acquirers").into_iter().filter_map(|name| read_one(reader, &name)).collect()
}

fn read_one(reader: &mut Reader, name: &str) -> Option<AcquirerConfig> {
    let table = format!("acquirers.{name}");
    let parsed = AcquirerName::parse(name);
    match &parsed {
        Err(rule) => reader.wrong(&table, format!("the name {rule}")),
        Ok(_) if name == SANDBOX => reader.wrong(&table, "this name belongs to the built-in sandbox"),
        Ok(_) => {}
    }
    let key = |suffix: &str| format!("{table}.{suffix}");
    let kind = read_kind(reader, &key("kind"));
    let base_url = required(reader, &key("base_url"), url::upstream);
    let token_url = reader.optional(&key("token_url"), url::upstream);
    let client_id = required(reader, &key("client_id"), |text| Ok::<_, &str>(text.to_owned()));
    let client_secret = reader.secret(&key("client_secret"));
    if !reader.is_set(&key("client_secret")) {
        reader.wrong(&key("client_secret"), "is missing: give it, or the file that holds it as `client_secret_file`");
    }
    let certificate_file = reader.file(&key("certificate_file"));
    let certificate_passphrase = reader.secret(&key("certificate_passphrase"));
    let ca_file = reader.file(&key("ca_file"));
    let pix_key = required(reader, &key("pix_key"), PixKey::parse);
    let callback_generation = reader.number(&key("callback_generation"), 0, 0..=MAX_GENERATION);
    Some(AcquirerConfig {
        kind: kind?,
        name: parsed.ok()?,
        base_url: base_url?,
        token_url,
        client_id: client_id?,
        client_secret: client_secret?,
        certificate_file,
        certificate_passphrase,
        ca_file,
        pix_key: pix_key?,
        callback_generation,
    })
}

fn read_kind(reader: &mut Reader, path: &str) -> Option<AcquirerKind> {
    if !reader.is_set(path) {
        reader.wrong(path, "is missing: give `efi`, or `bacen` for another institution of the Central Bank's API Pix");
        return None;
    }
    let word = reader.text(path)?;
    let kind = AcquirerKind::ALL.into_iter().find(|kind| kind.as_str() == word);
    match (kind, word.as_str()) {
        (Some(_), _) => reader.show(path, word),
        (None, "woovi") => reader.wrong(path, "`woovi` is not supported in this version; `bacen` and `efi` are"),
        (None, _) => reader.wrong(path, format!("must be `bacen` or `efi`, not `{word}`")),
    }
    kind
}

fn required<T, E: std::fmt::Display>(
    reader: &mut Reader,
    path: &str,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> Option<T> {
    if !reader.is_set(path) {
        reader.wrong(path, "is missing");
        return None;
    }
    reader.optional(path, read)
}
