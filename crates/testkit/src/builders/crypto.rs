//! Crypto quotes, deposits, payments and withdrawals with plausible values.

use cais_domain::charge::Origin;
use cais_domain::crypto::deposit::{
    ArrivedCoins, Credited, DepositPayment, DepositPrice, DepositState, DepositStatus, DepositTerms, Issued,
    PaymentState, Resolution,
};
use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::crypto::withdrawal::{
    WithdrawalPrice, WithdrawalSent, WithdrawalState, WithdrawalStatus, WithdrawalTerms,
};
use cais_domain::crypto::{
    Address, CryptoAmount, Currency, Deposit, ProcessorId, Quote, Rate, RateInputs, Side, Withdrawal,
};
use cais_domain::fee::FeeRule;
use cais_domain::ids::AccountId;
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use jiff::ToSpan as _;

use super::records::{expect_ok, fresh, main_acquirer, number, start};

/// Returns a new identifier of a record at the processor.
#[must_use]
pub fn a_processor_id() -> ProcessorId {
    expect_ok(ProcessorId::parse(&number().to_string()))
}

/// Returns an amount of USDT on Ethereum.
#[must_use]
pub fn usdt(text: &str) -> CryptoAmount {
    expect_ok(CryptoAmount::parse(Currency::UsdtErc20, text))
}

/// Returns a fee of R$ 0.50 plus 1 % of the amount.
fn fee_rule() -> FeeRule {
    expect_ok(FeeRule::try_new(Money::from_centavos(50), expect_ok(Percentage::parse("1")), None, None))
}

/// Returns a quote of R$ 100.00 in USDT on Ethereum, at R$ 5.40 per USDT.
#[must_use]
pub fn a_quote(account: AccountId, side: Side) -> Quote {
    let inputs = RateInputs {
        usdt_per_coin: expect_ok(Rate::parse("1")),
        coin_priced_at: start(),
        brl_per_usd: expect_ok(Rate::parse("5.4")),
        usd_priced_at: start(),
        spread: Percentage::zero(),
    };
    let terms = QuotedTerms { side, currency: Currency::UsdtErc20, amount: Money::from_centavos(10_000) };
    expect_ok(Quote::open((fresh(), account), terms, fee_rule(), inputs, start()))
}

/// Returns a deposit of R$ 100.00 before its address is requested.
#[must_use]
pub fn a_deposit(account: AccountId) -> Deposit {
    let terms = DepositTerms {
        amount: Money::from_centavos(10_000),
        currency: Currency::UsdtErc20,
        description: None,
        external_id: None,
        postback: None,
        origin: Origin::Api,
    };
    let price = DepositPrice::of(&a_quote(account, Side::Deposit));
    Deposit::open((fresh(), account), terms, price, main_acquirer(), start())
}

/// Returns the deposit in that status, with plausible facts.
#[must_use]
pub fn deposit_in_status(deposit: Deposit, status: DepositStatus) -> Deposit {
    let at = deposit.created_at + 20.seconds();
    let issued = Issued {
        payment: a_processor_id(),
        address: "0xdAC17F958D2ee523a2206206994597C13D831ec7".to_owned(),
        extra_id: None,
        expires_at: deposit.created_at + 20.minutes(),
    };
    let (state, coins, gross, fee, resolution) = match status {
        DepositStatus::Creating => (DepositState::Creating, "0", 0, 0, None),
        DepositStatus::Abandoned => (DepositState::Abandoned { at }, "0", 0, 0, None),
        DepositStatus::Pending => (DepositState::Pending(issued), "0", 0, 0, None),
        DepositStatus::Confirming => (DepositState::Confirming(issued), "0", 0, 0, None),
        DepositStatus::Expired => (DepositState::Expired { issued, at }, "0", 0, 0, None),
        DepositStatus::Failed => (DepositState::Failed { issued, at }, "0", 0, 0, None),
        DepositStatus::Refunded => (DepositState::Refunded { issued, at }, "0", 0, 0, None),
        DepositStatus::Completed => {
            (DepositState::Completed { issued, at }, "18.518519", 10_000, 150, Some(Resolution::Exact))
        }
        DepositStatus::Underpaid => {
            (DepositState::Underpaid { issued, at }, "10", 5_400, 104, Some(Resolution::Underpaid))
        }
    };
    let is_open = matches!(state, DepositState::Pending(_) | DepositState::Confirming(_));
    let credited = Credited { coins: usdt(coins), gross: Money::from_centavos(gross), fee: Money::from_centavos(fee) };
    let (confirmed_at, due_at) = (resolution.map(|_| at), is_open.then_some(at));
    Deposit { state, credited, resolution, confirmed_at, due_at, ..deposit }
}

/// Returns a payment of 10 USDT to the address of the deposit.
#[must_use]
pub fn a_deposit_payment(deposit: &Deposit, state: PaymentState) -> DepositPayment {
    DepositPayment {
        id: a_processor_id(),
        account: deposit.account,
        deposit: deposit.id,
        processor: deposit.processor.clone(),
        coins: ArrivedCoins::Supported(usdt("10")),
        tx_hash: None,
        gross: Money::from_centavos(5_400),
        fee: Money::from_centavos(104),
        state,
        created_at: start(),
        version: 0,
    }
}

/// Returns a withdrawal of R$ 100.00, with a fee of R$ 1.50, before it is sent.
#[must_use]
pub fn a_withdrawal(account: AccountId) -> Withdrawal {
    let terms = WithdrawalTerms {
        amount: Money::from_centavos(10_000),
        address: expect_ok(Address::parse(Currency::UsdtErc20, "0x52908400098527886E0F7030069857D2E4169EE7")),
        description: None,
        external_id: None,
        origin: Origin::Api,
    };
    let price = expect_ok(WithdrawalPrice::of(&a_quote(account, Side::Withdrawal)));
    Withdrawal::open((fresh(), account), terms, price, main_acquirer(), start())
}

/// Returns the withdrawal in that status, with plausible facts.
#[must_use]
pub fn withdrawal_in_status(withdrawal: Withdrawal, status: WithdrawalStatus) -> Withdrawal {
    let at = withdrawal.created_at + 20.seconds();
    let sent = WithdrawalSent { recorded_at: withdrawal.created_at + 1.second(), batch: Some(a_processor_id()) };
    let state = match status {
        WithdrawalStatus::Pending => WithdrawalState::Pending,
        WithdrawalStatus::Abandoned => WithdrawalState::Abandoned { at },
        WithdrawalStatus::Processing => WithdrawalState::Processing { sent, review_since: None },
        WithdrawalStatus::Completed => WithdrawalState::Completed { sent, at },
        WithdrawalStatus::Failed => WithdrawalState::Failed { sent, reason: "rejected".to_owned(), at },
    };
    let due_at = (status == WithdrawalStatus::Processing).then_some(at);
    Withdrawal { state, due_at, ..withdrawal }
}
