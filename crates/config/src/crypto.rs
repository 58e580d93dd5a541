//! Crypto: the processor, the source of the exchange rate of USD in BRL, and the spread.

use std::convert::Infallible;

use cais_domain::crypto::rate::parse_spread;
use cais_domain::rate::Percentage;
use cais_ports::Secret;

use crate::acquirers::{secret_text, upstream_url};
use crate::declare::{Kind, keys, text};
use crate::reader::Reader;
use crate::url;

/// The table of the crypto settings.
pub const TABLE: &str = "crypto";

/// The name of the processor, which no acquirer may have.
pub const NOWPAYMENTS: &str = "nowpayments";

/// The keys of [`CryptoSettings`] that are permitted without a processor.
const WITHOUT_PROCESSOR: [&str; 2] = ["spread", "ptax"];

/// The interface of a crypto processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessorKind {
    /// The API of the company `NOWPayments`.
    NowPayments,
}

impl ProcessorKind {
    fn parse(text: &str) -> Result<Self, &'static str> {
        if text == NOWPAYMENTS { Ok(Self::NowPayments) } else { Err("must be `nowpayments`") }
    }
}

keys! {
    /// The account at a crypto processor.
    #[derive(Debug, Clone)]
    pub struct ProcessorConfig {
        /// The interface of the crypto processor. Without a processor, crypto is not available. The built-in sandbox has
        /// a processor of its own.
        kind: ProcessorKind = text("nowpayments", ProcessorKind::parse).required("give `nowpayments`");
        /// The base address of the processor's API, without `/v1`.
        base_url: String = processor_url().default("https://api.nowpayments.io");
        /// The API key at the processor. A deposit is readable only with the API key that created it.
        api_key: Secret = secret_text().required("");
        /// The secret that verifies the signatures of the processor's callbacks (IPN).
        ipn_secret: Secret = secret_text().required("");
        /// The e-mail of the login at the processor. Withdrawals and the lists of the processor's API require this login.
        email: String = text("text", |text| Ok::<_, Infallible>(text.to_owned())).required("");
        /// The password of the login.
        password: Secret = secret_text().required("");
        /// The secret of the one-time codes that verify withdrawals, in base32.
        totp_secret: Secret = secret_text().required("");
    }
}

keys! {
    /// The source of the exchange rate of USD in BRL.
    #[derive(Debug, Clone)]
    pub struct PtaxSettings {
        /// The base address of the Central Bank's service of exchange rates (PTAX), up to `/odata`.
        base_url: String = upstream_url().default("https://olinda.bcb.gov.br/olinda/servico/PTAX/versao/v1/odata");
    }
}

keys! {
    /// All crypto settings.
    #[derive(Debug, Clone)]
    pub struct CryptoSettings {
        /// The spread in percent, from 0 to 10. The spread lowers the worth of a deposit's coins, and raises the cost of
        /// a withdrawal's coins. `cais account crypto-spread` sets another spread for an account.
        spread: Percentage = text("text with a percentage such as `\"1.5\"`, 0 to 10", parse_spread).default("1");
        /// The source of the exchange rate of USD in BRL.
        ptax: PtaxSettings = PtaxSettings::read;
        /// The processor. `None` if no processor is configured.
        processor: Option<ProcessorConfig> = |reader: &mut Reader, path: &str| {
            let table = path.strip_suffix(".processor")?;
            if has_processor(reader, table) { ProcessorConfig::read(reader, table).map(Some) } else { Some(None) }
        };
    }
}

/// Returns `true` if any key of the processor is set.
fn has_processor(reader: &Reader, table: &str) -> bool {
    reader.keys(table).iter().any(|key| !WITHOUT_PROCESSOR.contains(&key.as_str()))
}

fn processor_url() -> Kind<String> {
    text("https URL (http on loopback)", |text| match url::upstream(text) {
        Ok(url) if url.contains("//api-sandbox.nowpayments.io") => {
            Err("must not be the processor's sandbox: its coins are play money, and their credit would be real")
        }
        read => read,
    })
}
