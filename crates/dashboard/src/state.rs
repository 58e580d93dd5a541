//! The state that pages share. The process creates this state once, when it starts.

use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::http::header::HOST;
use cais_domain::txid::Txid;
use cais_use_cases::SyncGate;
use cais_use_cases::crypto::currency_cache::RecentCurrencies;
use cais_use_cases::daily_totals::DailyTotals;
use cais_use_cases::keys::KeyRing;
use cais_use_cases::logins::Logins;
use cais_use_cases::request_log::RequestLog;
use url::Url;

pub use crate::check::Checks;
pub use crate::download::Downloads;

/// The address under which browsers see the dashboard.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Site {
    /// The origin, such as `https://pay.example`. `None` in development: the origin is then the `Host` of each request.
    pub origin: Option<String>,
    /// The configured public URL of the service, for links that are used outside of the browser. `None` in development:
    /// links then contain the `Host` of the request.
    pub base: Option<String>,
    /// `true` if the service runs on the built-in sandbox.
    pub is_sandbox: bool,
}

impl Site {
    /// Returns the site at the public URL of the service. `public_url` is `None` in development.
    ///
    /// # Errors
    /// A parse error if `public_url` is not a URL.
    pub fn new(public_url: Option<&str>, is_sandbox: bool) -> Result<Self, url::ParseError> {
        let origin = public_url.map(Url::parse).transpose()?.map(|url| url.origin().ascii_serialization());
        Ok(Self { origin, base: public_url.map(str::to_owned), is_sandbox })
    }

    /// Returns the URL of the service for links that are used outside of the browser.
    pub(crate) fn base_of(&self, request: &HttpRequest) -> String {
        let host = || request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        self.base.clone().unwrap_or_else(|| format!("http://{}", host()))
    }

    /// Returns `true` if browsers use TLS. Cookies are then sent only over TLS.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.origin.as_ref().is_some_and(|origin| origin.starts_with("https://"))
    }
}

/// The state that pages share.
pub struct Dashboard {
    /// The use cases of logins, with the ports of all other use cases.
    pub logins: Logins,
    /// The cached API keys of this node. A revocation removes its key from the cache at once.
    pub keys: KeyRing,
    /// Limits the reads of acquirers, shared with the API.
    pub syncs: SyncGate,
    /// The newest lists of crypto currencies, shared with the API.
    pub currencies: RecentCurrencies,
    /// The log of API requests. A page shows how many of its entries were dropped.
    pub requests: RequestLog,
    /// The incoming and outgoing money of the last 30 days, by account.
    pub totals: DailyTotals,
    /// The address of the pages.
    pub site: Site,
    /// Pays a charge at the built-in sandbox; `None` if the service does not run on the sandbox.
    pub sandbox_pay: Option<SandboxPay>,
    /// The unfinished CSV files, at most one per account. Files of the API count too.
    pub downloads: Downloads,
    /// The checks that operators start.
    pub checks: Checks,
}

/// Pays a charge at the built-in sandbox, as its payer would. The call blocks, because it writes to disk.
///
/// # Errors
/// The reason as a text for the log.
pub type SandboxPay = Arc<dyn Fn(&Txid) -> Result<(), String> + Send + Sync>;

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn origin_is_that_of_the_public_url() {
        for (url, origin, is_secure) in [
            (Some("https://Pay.example:443/cais"), Some("https://pay.example"), true),
            (Some("http://127.0.0.1:8080"), Some("http://127.0.0.1:8080"), false),
            (None, None, false),
        ] {
            let site = Site::new(url, false).unwrap();
            assert_eq!((site.origin.as_deref(), site.is_secure()), (origin, is_secure), "{url:?}");
        }
    }
}
