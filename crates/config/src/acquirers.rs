//! The acquirers of a configuration.

use std::convert::Infallible;
use std::path::PathBuf;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::pix_key::PixKey;
use cais_ports::Secret;
use ipnet::IpNet;

use crate::crypto::NOWPAYMENTS;
use crate::declare::{Kind, blocks, file, flag, keys, number, secret, text};
use crate::reader::{Reader, path};
use crate::url;

/// The table of the acquirers.
pub const TABLE: &str = "acquirers";

/// The rule of a key that other kinds have.
const NOT_FOR_WOOVI: &str = "must not be set for `woovi`";

/// The rule of a key that other kinds do not have.
const ONLY_FOR_WOOVI: &str = "must be set only for `woovi`";

/// The name of the built-in sandbox, which no configured acquirer may have.
pub const SANDBOX: &str = "sandbox";

/// The interface of an acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcquirerKind {
    /// The Central Bank's API Pix: charges and refunds.
    Bacen,
    /// The Central Bank's API Pix and Efí's cash-out: also payouts.
    Efi,
    /// Woovi's own API: charges, refunds, payouts and infractions.
    Woovi,
}

impl AcquirerKind {
    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "bacen" => Ok(Self::Bacen),
            "efi" => Ok(Self::Efi),
            "woovi" => Ok(Self::Woovi),
            _ => Err("must be `bacen`, `efi` or `woovi` (others are not supported in this version)"),
        }
    }
}

keys! {
    /// An acquirer. `bacen` and `efi` need the `OAuth2` client and the Pix key, and `woovi` the `AppID`.
    #[derive(Debug, Clone)]
    pub struct AcquirerConfig {
        /// The acquirer's name in the ledger, the records and the logs: the name of its table.
        name: AcquirerName = name;
        /// The interface of the acquirer. `bacen` is the Central Bank's API Pix: charges and refunds. `efi` adds Efí's
        /// payouts and infractions. `woovi` is Woovi's own API with all of these. NAME is 1 to 32 characters of a-z, 0-9
        /// and -. Without any acquirer `cais serve` starts only with the built-in sandbox (`sandbox`).
        kind: AcquirerKind = text("bacen, efi or woovi", AcquirerKind::parse)
            .required("give `efi`, `woovi`, or `bacen` for another institution of the Central Bank's API Pix");
        /// The base address of the acquirer's API, without `/v2` and without `/api/v1`.
        base_url: String = upstream_url().required("");
        /// The address that issues access tokens. Not for `woovi`.
        token_url: Option<String> = upstream_url()
            .optional()
            .default_shown("`/oauth/token` under `base_url`")
            .rejected_if(only(is_woovi(kind)), NOT_FOR_WOOVI);
        /// The `OAuth2` client. Not for `woovi`.
        client_id: Option<String> = text("text", |text| Ok::<_, Infallible>(text.to_owned()))
            .optional()
            .required_if(!is_woovi(kind), "")
            .rejected_if(only(is_woovi(kind)), NOT_FOR_WOOVI);
        /// The `OAuth2` client's secret. Not for `woovi`.
        client_secret: Option<Secret> = secret_text()
            .optional()
            .required_if(!is_woovi(kind), "")
            .rejected_if(only(is_woovi(kind)), NOT_FOR_WOOVI);
        /// The `AppID` of `woovi`.
        app_id: Option<Secret> = secret_text()
            .optional()
            .required_if(is_woovi(kind), "")
            .rejected_if(only(!is_woovi(kind)), ONLY_FOR_WOOVI);
        /// PEM file with the public keys that sign the callbacks of `woovi`. Several keys may follow each other.
        webhook_public_key_file: Option<PathBuf> = file()
            .optional()
            .rejected_if(only(!is_woovi(kind)), ONLY_FOR_WOOVI);
        /// The secret of the older signature of `woovi`'s callbacks. Required without `webhook_public_key_file`.
        webhook_hmac_secret: Option<Secret> = secret_text()
            .optional()
            .required_if(
                is_woovi(kind) && webhook_public_key_file == Some(None),
                "give it, or better `webhook_public_key_file`: callbacks must be verified",
            )
            .rejected_if(only(!is_woovi(kind)), ONLY_FOR_WOOVI);
        /// PEM or PKCS#12 file with the client certificate and its private key, if the acquirer requires mutual TLS.
        /// Not for `woovi`.
        certificate_file: Option<PathBuf> = file()
            .private()
            .optional()
            .rejected_if(only(is_woovi(kind)), NOT_FOR_WOOVI);
        /// The passphrase of the PKCS#12 file.
        certificate_passphrase: Option<Secret> = secret_text()
            .optional()
            .rejected_if(only(is_woovi(kind)), NOT_FOR_WOOVI);
        /// PEM file with root certificates for the acquirer, in addition to the system's.
        ca_file: Option<PathBuf> = file().optional();
        /// The Pix key that receives charges and sends payouts. Not for `woovi`, whose account has its own key.
        pix_key: Option<PixKey> = text("text", PixKey::parse)
            .optional()
            .required_if(!is_woovi(kind), "")
            .rejected_if(only(is_woovi(kind)), NOT_FOR_WOOVI);
        /// Raise the number by one to register a new secret callback address, for example after a leak. The previous
        /// address stays valid until the next raise. Raise the number a second time after the acquirer has accepted the
        /// new address.
        callback_generation: u32 = number(0..=1_000_000).default("0");
        /// Networks from which the acquirer sends callbacks. A callback from another address is answered 404. The
        /// address is the client's, see `trusted_proxies`.
        callback_addresses: Vec<IpNet> = blocks().default("").default_shown("every address");
        /// `true` if the proxy before the callback address accepts only clients with Efí's certificate. Efí then
        /// verifies at each registration that the address refuses other clients. Only for `efi`.
        callback_mtls: bool = flag()
            .default("false")
            .rejected_if(move |value| *value && !is_efi(kind), "must be set only for `efi`");
    }
}

/// Reads every acquirer. Returns `None` after a mistake in one of them.
pub fn read(reader: &mut Reader, table: &str) -> Option<Vec<AcquirerConfig>> {
    let all: Vec<_> = reader.names(table).iter().map(|name| AcquirerConfig::read(reader, &path(table, name))).collect();
    all.into_iter().collect()
}

/// Reads the name of a table `acquirers.NAME` from the path of this field.
fn name(reader: &mut Reader, path: &str) -> Option<AcquirerName> {
    let table = path.strip_suffix(".name")?;
    let (_, name) = table.split_once('.')?;
    match AcquirerName::parse(name) {
        Err(rule) => reader.wrong(table, format!("the name {rule}")),
        Ok(_) if name == SANDBOX => reader.wrong(table, "this name belongs to the built-in sandbox"),
        Ok(_) if name == NOWPAYMENTS => reader.wrong(table, "this name belongs to the crypto processor"),
        Ok(name) => return Some(name),
    }
    None
}

/// Returns whether the kind is Woovi. A wrong kind counts as another kind.
fn is_woovi(kind: Option<AcquirerKind>) -> bool {
    kind == Some(AcquirerKind::Woovi)
}

/// Returns whether the kind is Efí. A wrong kind counts as another one.
fn is_efi(kind: Option<AcquirerKind>) -> bool {
    kind == Some(AcquirerKind::Efi)
}

/// Returns a condition that holds for every value or for none.
fn only<T>(is_met: bool) -> impl Fn(&T) -> bool {
    move |_| is_met
}

/// Parses the address of another company's service.
pub fn upstream_url() -> Kind<String> {
    text("https URL (http on loopback)", url::upstream)
}

/// Parses a secret without a format.
pub fn secret_text() -> Kind<Secret> {
    secret("text", |text| Ok::<_, Infallible>(Secret::new(text)))
}
