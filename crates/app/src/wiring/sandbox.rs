//! The built-in sandbox of a service, the sandbox of `cais sandbox`, and the test controls of the API.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use cais_acquirers::{BacenConfig, EfiAcquirer};
use cais_cli::RunningSandbox;
use cais_config::{Config, SANDBOX};
use cais_dashboard::SandboxPay;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::ProcessorId;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::RefundId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::pix_key::PixKey;
use cais_domain::txid::Txid;
use cais_http_api::{
    FaultMode, InfractionRequest, Institution, InstitutionError, NotificationSignature, PaymentStep, Resolution,
    SandboxCoin, SandboxCoinChange, SandboxControls, SandboxDollar, SandboxDollarChange, SandboxNotifications,
    SandboxNotificationsChange, SentCoins, SimulatedProcessor, WithdrawalFailure,
};
use cais_ports::{Acquirer, Secret};
use cais_sandbox::{
    CoinValues, Control, ControlError, Credentials, CryptoDeposit, CryptoPaymentStatus, CryptoSettings, Fault,
    FaultTarget, InfractionOutcome, IpnSignature, JournalError, NewDispute, Sandbox, SandboxConfig, SandboxError,
    WithdrawalOutcome, credentials_file,
};

use super::Upstream;
use crate::clock::OffsetClock;
use crate::logging::chain;

/// The duration of a crypto withdrawal in the built-in sandbox, long enough for a tester to make the withdrawal fail.
const WITHDRAWAL_TAKES_MS: u32 = 2_000;
/// The name of the sandbox's state file in the data directory.
const STATE_FILE: &str = "sandbox.journal";

/// Returns the path of the sandbox's state file and creates its directory.
fn state_file(config: &Config) -> anyhow::Result<PathBuf> {
    super::make_data_dir(config)?;
    Ok(config.data_dir.join(STATE_FILE))
}

/// Starts the built-in sandbox on a free port of this machine, with the state file in the data directory.
///
/// # Errors
/// The sandbox cannot start.
pub async fn start(config: &Config) -> anyhow::Result<Sandbox> {
    let state_file = Some(state_file(config)?);
    let settings = SandboxConfig { state_file, refuses_when_down: true, ..SandboxConfig::default() };
    let sandbox = Sandbox::start(settings).await.context("the built-in sandbox does not start")?;
    let control = sandbox.control();
    control.set_crypto_settings(CryptoSettings {
        withdrawal_takes_ms: Some(WITHDRAWAL_TAKES_MS),
        ..control.crypto_settings()
    });
    Ok(sandbox)
}

/// Starts the sandbox of `cais sandbox`. Without `file` its state is in the data directory.
///
/// # Errors
/// The sandbox cannot start.
pub async fn start_alone(config: &Config, listen: SocketAddr, file: Option<PathBuf>) -> anyhow::Result<RunningSandbox> {
    let state_file = Some(file.map_or_else(|| state_file(config), Ok)?);
    let settings = SandboxConfig { listen, state_file, ..SandboxConfig::default() };
    let sandbox = Sandbox::start(settings).await.context("the sandbox does not start")?;
    let crypto = sandbox.crypto_credentials();
    let woovi = sandbox.woovi_credentials();
    let Credentials { base_url, client_id, client_secret, pix_key } = sandbox.credentials();
    let credentials = vec![
        ("base_url", base_url),
        ("client_id", client_id),
        ("client_secret", client_secret),
        ("pix_key", pix_key),
        ("crypto_base_url", crypto.base_url),
        ("crypto_api_key", crypto.api_key),
        ("crypto_ipn_secret", crypto.ipn_secret),
        ("crypto_email", crypto.email),
        ("crypto_password", crypto.password),
        ("crypto_totp_secret", crypto.totp_secret),
        ("ptax_base_url", crypto.ptax_base_url),
        ("woovi_base_url", woovi.base_url),
        ("woovi_app_id", woovi.app_id),
        ("woovi_hmac_secret", woovi.hmac_secret),
        ("woovi_webhook_public_key", woovi.webhook_public_key),
    ];
    Ok(RunningSandbox { credentials, stop: Box::pin(sandbox.stop()) })
}

/// Returns the acquirers and the crypto sources for a command that may run beside the service.
///
/// If the setting `sandbox` is false, the configured acquirers and crypto sources are returned. If it is true, the sandbox of a running
/// service is used. If no service runs, a sandbox is started from the state file and also returned. The caller must stop that sandbox.
///
/// # Errors
/// The settings of the acquirers are wrong, or the sandbox cannot start.
pub async fn beside(config: &Config) -> anyhow::Result<(Upstream, Option<Sandbox>)> {
    if !config.sandbox {
        let acquirers = super::configured_acquirers(config)?;
        return Ok((Upstream { acquirers, crypto: super::crypto::configured(config, None)? }, None));
    }
    match start(config).await {
        Ok(sandbox) => Ok((upstream(sandbox.credentials(), config, None)?, Some(sandbox))),
        Err(error) if is_in_use(&error) => {
            let credentials = credentials_file::read(&config.data_dir).ok_or(error)?;
            Ok((upstream(credentials, config, None)?, None))
        }
        Err(error) => Err(error),
    }
}

/// Returns the acquirer and the crypto sources of a sandbox. `callback_url` is the address for the callbacks of its crypto
/// processor.
///
/// # Errors
/// The sandbox's credentials are invalid.
pub fn upstream(credentials: Credentials, config: &Config, callback_url: Option<String>) -> anyhow::Result<Upstream> {
    let crypto = super::crypto::of_sandbox(credentials.crypto(), config, callback_url)?;
    Ok(Upstream { acquirers: vec![acquirer(credentials)?], crypto: Some(crypto) })
}

/// Returns `true` if another process has locked the sandbox's state file.
fn is_in_use(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(SandboxError::State(JournalError::InUse(_))))
}

/// Returns the acquirer of the built-in sandbox.
fn acquirer(credentials: Credentials) -> anyhow::Result<Arc<dyn Acquirer>> {
    let config = BacenConfig::new(
        AcquirerName::parse(SANDBOX)?,
        credentials.base_url,
        credentials.client_id,
        Secret::new(credentials.client_secret),
        PixKey::parse(&credentials.pix_key)?,
    );
    Ok(Arc::new(EfiAcquirer::new(&config)?))
}

/// Returns the controls of a sandbox and of the service's clock. `acquirer` is the name of the sandbox as an acquirer.
#[must_use]
pub fn controls(control: Control, acquirer: AcquirerName, clock: Arc<OffsetClock>) -> SandboxControls {
    let sandbox = Arc::new(InProcess(control));
    SandboxControls {
        institution: sandbox.clone(),
        processor: sandbox,
        acquirer,
        move_clock: Arc::new(move |offset_s| {
            // The API and the sandbox have already rejected values out of range.
            if !clock.set_offset_s(offset_s) {
                tracing::warn!(offset_s, "service clock not moved: the offset is out of range");
            }
        }),
    }
}

/// Returns the function with which pages of the dashboard simulate a payer.
#[must_use]
pub fn payer(controls: &SandboxControls) -> SandboxPay {
    let institution = Arc::clone(&controls.institution);
    Arc::new(move |txid| institution.pay(txid, None).map_err(|error| error.to_string()))
}

/// A sandbox in this process.
struct InProcess(Control);

fn done<T>(result: Result<T, ControlError>) -> Result<(), InstitutionError> {
    result.map(|_| ()).map_err(|error| refused(&error))
}

fn refused(error: &ControlError) -> InstitutionError {
    match error {
        ControlError::InvalidState(reason) => InstitutionError::InvalidState((*reason).to_owned()),
        ControlError::NotFound(_) | ControlError::OutOfRange { .. } | ControlError::Store(_) | ControlError::Id => {
            InstitutionError::Failed(chain(error))
        }
    }
}

impl Institution for InProcess {
    fn pay(&self, txid: &Txid, amount: Option<Money>) -> Result<(), InstitutionError> {
        done(self.0.pay(txid, amount))
    }

    fn expire(&self, txid: &Txid) -> Result<(), InstitutionError> {
        done(self.0.expire(txid))
    }

    fn return_sent(&self, instruction_id: &InstructionId) -> Result<(), InstitutionError> {
        done(self.0.return_sent(instruction_id.as_str(), None))
    }

    fn fail_refund(&self, end_to_end_id: &EndToEndId, refund: RefundId) -> Result<(), InstitutionError> {
        done(self.0.fail_refund(end_to_end_id, &refund.suffix()))
    }

    fn open_infraction(
        &self,
        end_to_end_id: &EndToEndId,
        request: InfractionRequest,
    ) -> Result<String, InstitutionError> {
        let InfractionRequest { situation, amount, deadline_s } = request;
        let dispute = NewDispute { situation, amount, deadline_s, is_operational: false };
        match self.0.open_infraction(end_to_end_id, dispute) {
            Ok(opened) => Ok(opened.id),
            // The API has already checked the amount against its own limits, so the amount exceeds the payment.
            Err(ControlError::OutOfRange { field: "valor" }) => {
                Err(InstitutionError::OutOfRange { path: "amount", rule: "must be at most the paid amount" })
            }
            Err(error) => Err(refused(&error)),
        }
    }

    fn resolve_infraction(&self, upstream_id: &str, resolution: Resolution) -> Result<(), InstitutionError> {
        let outcome = match resolution {
            Resolution::Won => InfractionOutcome::Won,
            Resolution::Lost => InfractionOutcome::Lost,
            Resolution::Cancelled => InfractionOutcome::Cancelled,
        };
        done(self.0.resolve_infraction(upstream_id, outcome))
    }

    fn set_faults(&self, mode: FaultMode, latency: Duration) -> Result<(), InstitutionError> {
        done(self.0.set_faults(Fault { mode: fault_mode(mode), latency }))
    }

    fn set_clock_offset(&self, offset_s: i64) -> Result<(), InstitutionError> {
        done(self.0.set_clock_offset(offset_s))
    }
}

const fn fault_mode(mode: FaultMode) -> cais_sandbox::FaultMode {
    match mode {
        FaultMode::Ok => cais_sandbox::FaultMode::Ok,
        FaultMode::Down => cais_sandbox::FaultMode::Down,
        FaultMode::Slow => cais_sandbox::FaultMode::Slow,
        FaultMode::DropReply => cais_sandbox::FaultMode::DropReply,
        FaultMode::Error => cais_sandbox::FaultMode::Error,
    }
}

impl SimulatedProcessor for InProcess {
    fn pay(&self, payment: &ProcessorId, coins: &SentCoins) -> Result<(), InstitutionError> {
        let SentCoins { amount, currency, hold } = coins.clone();
        match self.0.pay_crypto(payment.as_str(), &CryptoDeposit { amount, currency, hold }) {
            Ok(_) => Ok(()),
            Err(ControlError::OutOfRange { field: "amount" }) => {
                Err(InstitutionError::OutOfRange { path: "amount", rule: "must be an amount of the currency" })
            }
            Err(error) => Err(refused(&error)),
        }
    }

    fn expire(&self, payment: &ProcessorId) -> Result<(), InstitutionError> {
        done(self.0.move_crypto_payment(payment.as_str(), CryptoPaymentStatus::Expired))
    }

    fn move_payment(&self, payment: &ProcessorId, to: PaymentStep) -> Result<(), InstitutionError> {
        let to = match to {
            PaymentStep::Confirmed => CryptoPaymentStatus::Confirmed,
            PaymentStep::Sending => CryptoPaymentStatus::Sending,
            PaymentStep::Finished => CryptoPaymentStatus::Finished,
            PaymentStep::PartiallyPaid => CryptoPaymentStatus::PartiallyPaid,
            PaymentStep::Failed => CryptoPaymentStatus::Failed,
            PaymentStep::Refunded => CryptoPaymentStatus::Refunded,
        };
        let newest = self.0.newest_crypto_payment(payment.as_str()).map_err(|error| refused(&error))?;
        done(self.0.move_crypto_payment(&newest, to))
    }

    fn fail_withdrawal(&self, batch: &ProcessorId, failure: WithdrawalFailure) -> Result<(), InstitutionError> {
        let end = match failure {
            WithdrawalFailure::Rejected => WithdrawalOutcome::Reject,
            WithdrawalFailure::Failed => WithdrawalOutcome::Fail,
        };
        done(self.0.move_crypto_withdrawal(batch.as_str(), end))
    }

    fn set_faults(&self, mode: FaultMode, latency: Duration) -> Result<(), InstitutionError> {
        done(self.0.set_faults_of(FaultTarget::Crypto, Fault { mode: fault_mode(mode), latency }, None))
    }

    fn set_coin(&self, change: &SandboxCoinChange) -> Result<SandboxCoin, InstitutionError> {
        let change = change.clone();
        let currency = change.currency.code();
        let values = CoinValues {
            price: change.price,
            min_deposit: change.min_deposit,
            min_payout: change.min_withdrawal,
            payout_fee: change.network_fee,
            balance: change.balance,
            enabled: change.enabled,
            priced: change.priced,
        };
        let all = self.0.set_crypto_coin(currency, &values).map_err(|error| refused(&error))?;
        Ok(SandboxCoin {
            currency,
            price: all.price,
            priced: all.priced,
            min_deposit: all.min_deposit,
            min_withdrawal: all.min_payout,
            network_fee: all.payout_fee,
            balance: all.balance,
            enabled: all.enabled,
        })
    }

    fn set_dollar(&self, change: &SandboxDollarChange) -> Result<SandboxDollar, InstitutionError> {
        if let Some(days) = change.age_days {
            self.0.set_ptax_age(days);
        }
        if let Some(rate) = &change.rate {
            self.0.set_ptax_rate(rate, None).map_err(|error| refused(&error))?;
        }
        let (rate, published_on) = self.0.newest_ptax_rate().unzip();
        Ok(SandboxDollar { rate, published_on: published_on.map(|day| day.to_string()) })
    }

    fn set_notifications(&self, change: &SandboxNotificationsChange) -> Result<SandboxNotifications, InstitutionError> {
        let mut settings = self.0.crypto_settings();
        settings.ipn_paused = change.paused.unwrap_or(settings.ipn_paused);
        settings.ipn_reversed = change.reversed.unwrap_or(settings.ipn_reversed);
        settings.ipn_copies = change.copies.unwrap_or(settings.ipn_copies);
        settings.ipn_signature = change.signature.map_or(settings.ipn_signature, ipn_signature);
        self.0.set_crypto_settings(settings.clone());
        Ok(SandboxNotifications {
            paused: settings.ipn_paused,
            reversed: settings.ipn_reversed,
            copies: settings.ipn_copies,
            signature: shown_signature(settings.ipn_signature).as_str(),
        })
    }
}

const fn ipn_signature(signature: NotificationSignature) -> IpnSignature {
    match signature {
        NotificationSignature::Valid => IpnSignature::Valid,
        NotificationSignature::Wrong => IpnSignature::Wrong,
        NotificationSignature::Missing => IpnSignature::Missing,
        NotificationSignature::Malformed => IpnSignature::Malformed,
    }
}

const fn shown_signature(signature: IpnSignature) -> NotificationSignature {
    match signature {
        IpnSignature::Valid => NotificationSignature::Valid,
        IpnSignature::Wrong => NotificationSignature::Wrong,
        IpnSignature::Missing => NotificationSignature::Missing,
        IpnSignature::Malformed => NotificationSignature::Malformed,
    }
}
