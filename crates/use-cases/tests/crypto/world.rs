//! An account with both crypto features, a processor with settable numbers, and a source of rates.

use std::sync::{Arc, Mutex};

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::crypto::{CryptoAmount, Currency, Quote, Rate, Side};
use cais_domain::merchant::account::{Account, Feature};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_ports::acquirers::MockAcquirers;
use cais_ports::crypto::MockCryptoProcessor;
use cais_ports::exchange_rates::MockExchangeRates;
use cais_ports::webhooks::MockWebhookSender;
use cais_ports::{AcquirerError, Clock as _, UsdRate};
use cais_testkit::builders::an_account;
use cais_testkit::{ManualClock, MemoryStore, PlainKeyedHash, PlainSecretCipher, SequentialIds, TextRepresentation};
use cais_use_cases::Ports;
use cais_use_cases::callbacks::OpenCallbacks;
use cais_use_cases::crypto::CryptoSources;
use cais_use_cases::crypto::quotes::{QuoteRefusal, create};
use cais_use_cases::upstream::UpstreamLimits;
use jiff::Timestamp;

/// The numbers of the processor and of the source of rates. `None`: no answer.
#[derive(Debug, Clone)]
pub struct Numbers {
    /// USDT for one coin.
    pub usdt_per_coin: Option<&'static str>,
    /// The technical minimum in coins.
    pub minimum: Option<&'static str>,
    /// BRL per USD, for buyers and sellers.
    pub usd: Option<(&'static str, &'static str)>,
    /// The instant of publication of that rate.
    pub published_at: Timestamp,
}

pub struct World {
    pub ports: Ports,
    pub crypto: CryptoSources,
    pub account: Account,
    pub clock: Arc<ManualClock>,
    pub numbers: Arc<Mutex<Numbers>>,
}

impl World {
    /// BTC at 100,000 USDT, BRL at 5.40 and 5.42 per USD, a spread of 1 %.
    pub fn new() -> Self {
        let (store, clock) = (Arc::new(MemoryStore::default()), Arc::new(ManualClock::default()));
        let ports = Ports {
            store: store.clone(),
            queries: store.clone(),
            maintenance: store.clone(),
            // Without expectations, so that a request to an acquirer or a receiver fails the test.
            acquirers: Arc::new(MockAcquirers::new()),
            crypto: None,
            clock: clock.clone(),
            ids: Arc::new(SequentialIds::default()),
            keyed_hash: Arc::new(PlainKeyedHash::default()),
            representation: Arc::new(TextRepresentation),
            deliveries: store,
            webhooks: Arc::new(MockWebhookSender::new()),
            secret_cipher: Arc::new(PlainSecretCipher::default()),
            limits: UpstreamLimits::default(),
            open_callbacks: OpenCallbacks::default(),
        };
        let numbers = Arc::new(Mutex::new(Numbers {
            usdt_per_coin: Some("100000"),
            minimum: Some("0.00005"),
            usd: Some(("5.40", "5.42")),
            published_at: clock.now(),
        }));
        let features = [Feature::CryptoIn, Feature::CryptoOut];
        let account = an_account();
        let account = Account {
            features: features.into_iter().fold(account.features, cais_domain::merchant::account::Features::with),
            ..account
        };
        let crypto = CryptoSources {
            processor: Arc::new(processor(&numbers)),
            rates: Arc::new(rates(&numbers)),
            spread: Percentage::parse("1").unwrap(),
        };
        Self { ports, crypto, account, clock, numbers }
    }

    pub fn set(&self, change: impl FnOnce(&mut Numbers)) {
        change(&mut self.numbers.lock().unwrap());
    }

    pub async fn quote(&self, side: Side, centavos: i64) -> Result<Quote, QuoteRefusal> {
        self.quote_in(side, Currency::Btc, centavos).await
    }

    pub async fn quote_in(&self, side: Side, currency: Currency, centavos: i64) -> Result<Quote, QuoteRefusal> {
        let terms = QuotedTerms { side, currency, amount: Money::from_centavos(centavos) };
        create(&self.ports, &self.crypto, &self.account, terms).await
    }
}

fn silent<T>(answer: Option<T>) -> Result<T, AcquirerError> {
    answer.ok_or_else(|| AcquirerError::Unavailable("no answer".to_owned()))
}

fn processor(numbers: &Arc<Mutex<Numbers>>) -> MockCryptoProcessor {
    let mut processor = MockCryptoProcessor::new();
    processor.expect_name().return_const(AcquirerName::parse("now").unwrap());
    let (of_minimum, of_price) = (numbers.clone(), numbers.clone());
    processor.expect_minimum().returning(move |_, currency, _| {
        let minimum = silent(of_minimum.lock().unwrap().minimum)?;
        Ok(CryptoAmount::parse(currency, minimum).unwrap())
    });
    processor.expect_usdt_per_coin().returning(move |currency, _| {
        let price = if currency.is_usdt() { "1" } else { silent(of_price.lock().unwrap().usdt_per_coin)? };
        Ok(Rate::parse(price).unwrap())
    });
    processor
}

fn rates(numbers: &Arc<Mutex<Numbers>>) -> MockExchangeRates {
    let numbers = numbers.clone();
    let mut rates = MockExchangeRates::new();
    rates.expect_usd_rate().returning(move |_, _| {
        let numbers = numbers.lock().unwrap();
        let (buy, sell) = silent(numbers.usd)?;
        let rate = |text| Rate::parse(text).unwrap();
        Ok(UsdRate { buy: rate(buy), sell: rate(sell), published_at: numbers.published_at })
    });
    rates
}
