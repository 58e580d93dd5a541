//! The acquirers of a configuration.

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::pix_key::PixKey;
use cais_ports::Secret;
use ipnet::IpNet;

use crate::crypto::NOWPAYMENTS;
use crate::declare::{Kind, blocks, file, flag, keys, number, secret, text, words};
use crate::reader::{Reader, path};
use crate::url;

/// The table of the TOML file with one table per acquirer.
pub const TABLE: &str = "acquirers";

/// The rule for a key that is set for `woovi`, although `woovi` does not have the key.
const NOT_FOR_WOOVI: &str = "must not be set for `woovi`";

/// The rule for a key that is set for another kind, although only `woovi` has the key.
const ONLY_FOR_WOOVI: &str = "must be set only for `woovi`";

/// The rule for a key that is set for another kind, although only `bacen` has the key.
const ONLY_FOR_BACEN: &str = "must be set only for `bacen`";

/// The name of the built-in sandbox, which no configured acquirer may have.
pub const SANDBOX: &str = "sandbox";

/// The interface of an acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcquirerKind {
    /// The Central Bank's API Pix: charges and refunds.
    Bacen,
    /// The Central Bank's API Pix with Efí's additions: charges, refunds, payouts and infractions.
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

    /// Returns the name in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bacen => "bacen",
            Self::Efi => "efi",
            Self::Woovi => "woovi",
        }
    }
}

/// The format of the body of an `OAuth2` token request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenBody {
    /// A form.
    Form,
    /// JSON.
    Json,
}

impl TokenBody {
    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "form" => Ok(Self::Form),
            "json" => Ok(Self::Json),
            _ => Err("must be `form` or `json`"),
        }
    }
}

/// The place of the credentials in a token request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenCredentials {
    /// The header `Authorization: Basic`.
    Header,
    /// Fields of the body.
    Body,
}

impl TokenCredentials {
    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "header" => Ok(Self::Header),
            "body" => Ok(Self::Body),
            _ => Err("must be `header` or `body`"),
        }
    }
}

/// Names with their values. `Debug` shows the names only, because a value may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Pairs(pub Vec<(String, String)>);

impl fmt::Debug for Pairs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl Pairs {
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let pair = |part: &str| {
            let (name, value) = part.split_once('=')?;
            let (name, value) = (name.trim(), value.trim());
            (!name.is_empty() && !value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
        };
        text.split(',').map(pair).collect::<Option<_>>().map(Self).ok_or("must be `name=value`, separated by commas")
    }
}

fn profile(text: &str) -> Result<String, &'static str> {
    const NAMES: [&str; 5] = ["bb", "itau", "santander", "sicredi", "inter"];
    NAMES.contains(&text).then(|| text.to_owned()).ok_or("must be `bb`, `itau`, `santander`, `sicredi` or `inter`")
}

fn url_path(text: &str) -> Result<String, &'static str> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.');
    let is_path = text.starts_with('/') && !text.ends_with('/') && text.bytes().all(allowed);
    is_path.then(|| text.to_owned()).ok_or("must be a path such as /pix/v2")
}

/// The new orders that an acquirer receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operations {
    /// True if the acquirer receives charges.
    pub charges: bool,
    /// True if the acquirer receives payouts.
    pub payouts: bool,
}

impl Operations {
    fn parse(text: &str) -> Result<Self, &'static str> {
        let mut found = Self { charges: false, payouts: false };
        for word in text.split(',').map(str::trim) {
            match word {
                "charges" => found.charges = true,
                "payouts" => found.payouts = true,
                _ => return Err("must be `charges`, `payouts`, or both separated by a comma"),
            }
        }
        Ok(found)
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
            .default_shown("the path of `profile` under `base_url`, usually `/oauth/token`")
            .rejected_if(only(is_woovi(kind)), NOT_FOR_WOOVI);
        /// The id of the `OAuth2` client. Not for `woovi`.
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
        /// PEM file with the public keys that verify the signatures of `woovi`'s callbacks. The file may contain several keys.
        webhook_public_key_file: Option<PathBuf> = file()
            .optional()
            .rejected_if(only(!is_woovi(kind)), ONLY_FOR_WOOVI);
        /// The secret of the HMAC, the older signature of `woovi`'s callbacks. Required for `woovi` without
        /// `webhook_public_key_file`.
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
        /// PEM file with root certificates for the acquirer, in addition to those of the system.
        ca_file: Option<PathBuf> = file().optional();
        /// The Pix key that receives the payments of charges, and that payouts are sent from. Not for `woovi`, whose account
        /// has its own key.
        pix_key: Option<PixKey> = text("text", PixKey::parse)
            .optional()
            .required_if(!is_woovi(kind), "")
            .rejected_if(only(is_woovi(kind)), NOT_FOR_WOOVI);
        /// The acquirer's institution, which selects a profile: the settings in which the institution's API differs from
        /// the standard, the Central Bank's API Pix. Each profile follows the institution's public documents. No profile
        /// was tested with the real institution. `token_url` and the keys from `path_prefix` to `brasilia_dates` replace
        /// single settings of the profile. Only for `bacen`.
        profile: Option<String> = text("bb, itau, santander, sicredi or inter", profile)
            .optional()
            .rejected_if(only(!is_bacen(kind)), ONLY_FOR_BACEN);
        /// The application key, which the profile `bb` adds to every request. Only for `bacen`.
        application_key: Option<Secret> = secret_text()
            .optional()
            .required_if(profile == Some(Some("bb".to_owned())), "")
            .rejected_if(only(!is_bacen(kind)), ONLY_FOR_BACEN);
        /// The path of the API in place of `/v2`. Only for `bacen`.
        path_prefix: Option<String> = text("path", url_path)
            .optional()
            .default_shown("from `profile`, else from the standard")
            .rejected_if(only(!is_bacen(kind)), ONLY_FOR_BACEN);
        /// The format of the body of token requests. Only for `bacen`.
        token_body: Option<TokenBody> = text("form or json", TokenBody::parse)
            .optional()
            .default_shown("from `profile`, else from the standard")
            .rejected_if(only(!is_bacen(kind)), ONLY_FOR_BACEN);
        /// The place of the client's id and secret in token requests. Only for `bacen`.
        token_credentials: Option<TokenCredentials> = text("header or body", TokenCredentials::parse)
            .optional()
            .default_shown("from `profile`, else from the standard")
            .rejected_if(only(!is_bacen(kind)), ONLY_FOR_BACEN);
        /// The requested scopes, separated by blanks. Only for `bacen`.
        token_scope: Option<String> = text("scopes", |text| Ok::<_, Infallible>(text.to_owned()))
            .optional()
            .default_shown("from `profile`, else from the standard")
            .rejected_if(only(!is_bacen(kind)), ONLY_FOR_BACEN);
        /// Headers of every request, as `name=value` separated by commas. These headers replace the headers of the profile. The
        /// placeholders `{client_id}` and `{application_key}` are replaced by their values. Only for `bacen`.
        extra_headers: Option<Pairs> = secret("name=value, separated by commas", Pairs::parse)
            .optional()
            .default_shown("from `profile`, else from the standard")
            .rejected_if(only(!is_bacen(kind)), ONLY_FOR_BACEN);
        /// `true` reads instants without an offset as the time of Brasília. Only for `bacen`.
        brasilia_dates: Option<bool> = flag()
            .optional()
            .default_shown("from `profile`, else from the standard")
            .rejected_if(only(!is_bacen(kind)), ONLY_FOR_BACEN);
        /// The acquirer's priority for new orders: the lowest number comes first. Acquirers without a number come last,
        /// sorted by name. Acquirers with the same number share new orders by `weight`. `cais account acquirers` selects
        /// the acquirers that one account uses first.
        order: Option<u32> = number(0..=1_000).optional();
        /// The acquirer's share of new orders among the acquirers with the same `order`.
        weight: u32 = number(1..=100).default("1");
        /// The new orders that the acquirer receives. Refunds, defenses and look-ups of existing orders are not limited.
        operations: Operations = words("`charges`, `payouts`, or both separated by a comma", Operations::parse)
            .default("charges,payouts");
        /// Raise the number by one to register a new secret callback address, for example after a leak. The previous
        /// address stays valid until the number is raised again. So raise the number a second time after the acquirer
        /// has accepted the new address: the leaked address is then invalid.
        callback_generation: u32 = number(0..=1_000_000).default("0");
        /// Networks from which the acquirer sends callbacks. A callback from another address is answered 404. Behind a
        /// proxy, set `trusted_proxies`, so that the client's address is compared.
        callback_addresses: Vec<IpNet> = blocks().default("").default_shown("every address");
        /// `true` if the proxy before the callback address accepts only clients with Efí's certificate. Efí then
        /// verifies at each registration that the address refuses other clients. Only for `efi`.
        callback_mtls: bool = flag()
            .default("false")
            .rejected_if(move |value| *value && !is_efi(kind), "must be set only for `efi`");
    }
}

/// Reads every acquirer. Returns `None` if any of them has a mistake.
pub fn read(reader: &mut Reader, table: &str) -> Option<Vec<AcquirerConfig>> {
    let all: Vec<_> = reader.names(table).iter().map(|name| AcquirerConfig::read(reader, &path(table, name))).collect();
    all.into_iter().collect()
}

/// Reads NAME from `path`, which is `acquirers.NAME.name`.
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

/// Returns `true` if the kind is Woovi, and `false` for an unknown kind.
fn is_woovi(kind: Option<AcquirerKind>) -> bool {
    kind == Some(AcquirerKind::Woovi)
}

/// Returns `true` if the kind is Efí, and `false` for an unknown kind.
fn is_efi(kind: Option<AcquirerKind>) -> bool {
    kind == Some(AcquirerKind::Efi)
}

/// Returns `true` if the kind is the Central Bank's API Pix. Also returns `true` for an unknown kind, so that only the kind is reported as
/// a mistake, and not each key for `bacen`.
fn is_bacen(kind: Option<AcquirerKind>) -> bool {
    matches!(kind, None | Some(AcquirerKind::Bacen))
}

/// Returns a condition that every value meets if `is_met` is `true`, and no value meets otherwise.
fn only<T>(is_met: bool) -> impl Fn(&T) -> bool {
    move |_| is_met
}

/// Declares the URL of another company's service.
pub fn upstream_url() -> Kind<String> {
    text("https URL (http on loopback)", url::upstream)
}

/// Declares a secret that may be any text.
pub fn secret_text() -> Kind<Secret> {
    secret("text", |text| Ok::<_, Infallible>(Secret::new(text)))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use crate::{Config, Sources};

    #[test]
    fn operations_are_a_list_or_a_text_with_commas() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cais.toml");
        let read = |operations: &str| {
            let toml = format!(
                "[acquirers.main]\nkind = 'woovi'\nbase_url = 'https://bank.example'\napp_id = 'id'\n\
                webhook_hmac_secret = 'a long secret of the webhook'\noperations = {operations}"
            );
            std::fs::write(&file, toml).unwrap();
            Config::load(&Sources { file: Some(file.clone()), ..Sources::default() })
        };
        for (given, charges, payouts) in [
            ("['payouts']", false, true),
            ("['charges', 'payouts']", true, true),
            ("'charges, payouts'", true, true),
            ("'charges'", true, false),
        ] {
            let config = read(given).unwrap();
            let found = config.acquirers.first().unwrap().operations;
            assert_eq!((found.charges, found.payouts), (charges, payouts), "{given}");
        }
        for given in ["[]", "''", "['refunds']", "7", "[7]"] {
            let problems = read(given).unwrap_err();
            let keys: Vec<_> = problems.0.iter().map(|problem| problem.key.as_str()).collect();
            assert_eq!(keys, ["acquirers.main.operations"], "{given}: {problems}");
        }
    }
}
