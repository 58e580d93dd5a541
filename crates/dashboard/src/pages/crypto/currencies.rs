//! The first page of crypto: the currencies with their present minimums.

use actix_web::HttpResponse;
use askama::Template;
use cais_use_cases::crypto::currencies::{LiveCurrency, LiveMinimum};

use crate::failure::Failure;
use crate::format::{brl, decimal};
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::texts::Language;
use crate::texts::crypto::CryptoTexts;

#[derive(Template)]
#[template(path = "crypto/currencies.html")]
struct CurrenciesPage {
    page: Layout,
    t: &'static CryptoTexts,
    notice: Option<&'static str>,
    is_available: bool,
    currencies: Vec<Row>,
}

struct Row {
    code: &'static str,
    network: &'static str,
    deposit: Option<String>,
    withdrawal: Option<String>,
}

/// Shows the currencies. If no price can be read, the page is shown without currencies.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let (ports, t) = (&context.dashboard.logins.ports, CryptoTexts::of(context.language));
    let account = ports.queries.find_account(account).await?.ok_or(Failure::NotFound)?;
    let (notice, current) = match &ports.crypto {
        None => (Some(t.unavailable), Vec::new()),
        Some(sources) => match context.dashboard.currencies.list(ports, sources, &account).await {
            Ok(current) => (None, current),
            Err(error) => {
                tracing::warn!(%error, "crypto prices could not be read; the crypto page is shown without currencies");
                (Some(t.no_prices), Vec::new())
            }
        },
    };
    let currencies = current.into_iter().map(|currency| row(currency, context.language)).collect();
    let is_available = ports.crypto.is_some();
    Ok(context.ok(&CurrenciesPage { page: context.layout(), t, notice, is_available, currencies }))
}

fn row(LiveCurrency { currency, deposit, withdrawal }: LiveCurrency, language: Language) -> Row {
    let minimum = |minimum: LiveMinimum| {
        let coins = decimal(&minimum.coins.effective().to_string(), language);
        format!("{coins} {currency} ({})", brl(minimum.effective_brl, language))
    };
    Row {
        code: currency.code(),
        network: currency.network(),
        deposit: deposit.map(minimum),
        withdrawal: withdrawal.map(minimum),
    }
}
