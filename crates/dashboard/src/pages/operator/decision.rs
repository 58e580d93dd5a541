//! A decision on a record in review: its values on the confirmation page, and the texts that explain a refusal.

use cais_domain::crypto::Rate;
use cais_domain::crypto::deposit::{DepositPayment, ReceiveError};
use cais_domain::money::MoneyError;
use cais_domain::review_decision::{InfractionDecision, PaymentDecision, ReviewDecision, WithdrawalDecision};
use cais_domain::text::Text;
use cais_use_cases::crypto::deposits::review::{ResolvePaymentError, preview_at_rate};
use cais_use_cases::crypto::withdrawals::review::ResolveError as WithdrawalError;
use cais_use_cases::infractions::resolve::ResolveError as InfractionError;
use cais_use_cases::logins::DecisionError;
use cais_use_cases::store_error::StoreError;

use crate::failure::Failure;
use crate::format::{brl, decimal};
use crate::page_context::PageContext;
use crate::texts::Language;
use crate::texts::crypto::CryptoTexts;
use crate::texts::reviews::ReviewTexts;

/// A decision as its confirmation page shows it.
pub(crate) struct DecisionView {
    pub(crate) title: &'static str,
    pub(crate) subject: String,
    pub(crate) details: Vec<(&'static str, String)>,
    /// The path of the page with the first step.
    pub(crate) back: String,
}

/// Returns a decision as its confirmation page shows it.
///
/// # Errors
/// [`Failure`] if the store failed.
pub(crate) async fn decision_view(
    context: &PageContext,
    decision: ReviewDecision,
    note: Text,
) -> Result<DecisionView, Failure> {
    let language = context.language;
    let (t, money) = (ReviewTexts::of(language), |amount| brl(amount, language));
    let (title, subject, back, mut details) = match decision {
        ReviewDecision::Infraction { id, decision, .. } => {
            let details = match decision {
                InfractionDecision::Won => vec![(t.outcome, t.won.to_owned())],
                InfractionDecision::Lost(amount) => {
                    vec![(t.outcome, t.lost.to_owned()), (t.lost_amount, amount.map_or(t.whole.to_owned(), money))]
                }
                InfractionDecision::Cancelled => vec![(t.outcome, t.cancelled.to_owned())],
            };
            (t.infraction, id.to_string(), format!("{}/{id}", super::infractions::PATH), details)
        }
        ReviewDecision::Withdrawal { id, decision } => {
            let details = match decision {
                WithdrawalDecision::Sent { tx_hash } => {
                    vec![(t.outcome, t.sent.to_owned()), (t.tx_hash, tx_hash.into_string())]
                }
                WithdrawalDecision::Failed => vec![(t.outcome, t.failed.to_owned())],
            };
            (t.withdrawal, id.to_string(), super::crypto::PATH.to_owned(), details)
        }
        ReviewDecision::Payment { processor, id, seen, decision } => {
            let details = match decision {
                PaymentDecision::Credit(amount) => vec![(t.credit_amount, money(amount))],
                PaymentDecision::CreditAtRate => {
                    let expected = preview_at_rate(context.ports(), (&processor, &id, seen)).await?;
                    let expected = expected.map(|(rate, payment)| at_rate(&rate, &payment, language)).transpose();
                    let expected = expected.map_err(|error| StoreError::Internal(error.to_string()))?;
                    let outcome = (t.outcome, t.credit_at_rate.to_owned());
                    [outcome].into_iter().chain(expected.into_iter().flatten()).collect()
                }
                PaymentDecision::Dismiss => vec![(t.outcome, t.dismiss.to_owned())],
            };
            (t.payment, id.to_string(), super::crypto::PATH.to_owned(), details)
        }
    };
    details.push((t.note, note.into_string()));
    Ok(DecisionView { title, subject, details, back })
}

/// Returns the coins, the rate and the amounts of a credit at the deposit's rate, each with its label. `payment` is the
/// payment after the credit.
fn at_rate(
    rate: &Rate,
    payment: &DepositPayment,
    language: Language,
) -> Result<[(&'static str, String); 5], MoneyError> {
    let (t, money) = (CryptoTexts::of(language), |amount| brl(amount, language));
    let rate = decimal(&rate.to_string(), language);
    Ok([
        (t.coins, super::crypto::coins(payment, language)),
        (t.rate, format!("R$ {rate} {}", t.rate_unit)),
        (t.amount, money(payment.gross)),
        (t.fee, money(payment.fee)),
        (t.net, money(payment.gross.checked_sub(payment.fee)?)),
    ])
}

/// Returns the text that explains to the operator why the decision was refused.
///
/// # Errors
/// [`Failure`] if the record does not exist or the store failed.
pub(crate) fn refusal(error: DecisionError, language: Language) -> Result<String, Failure> {
    let t = ReviewTexts::of(language);
    let text = match error {
        DecisionError::Infraction(InfractionError::NotFound(_))
        | DecisionError::Withdrawal(WithdrawalError::NotFound(_))
        | DecisionError::Payment(ResolvePaymentError::NotFound(_)) => return Err(Failure::NotFound),
        DecisionError::Infraction(InfractionError::Store(error))
        | DecisionError::Withdrawal(WithdrawalError::Store(error))
        | DecisionError::Payment(ResolvePaymentError::Store(error)) => return Err(error.into()),
        DecisionError::Infraction(InfractionError::NotMarked(_))
        | DecisionError::Withdrawal(WithdrawalError::NotMarked(_))
        | DecisionError::Payment(ResolvePaymentError::Refused(ReceiveError::NotInReview)) => t.not_waiting,
        DecisionError::Infraction(InfractionError::Changed) | DecisionError::Payment(ResolvePaymentError::Changed) => {
            t.changed
        }
        DecisionError::Infraction(InfractionError::TooMuch { contested, .. }) => {
            return Ok(format!("{} {}.", t.too_much, brl(contested, language)));
        }
        DecisionError::Withdrawal(WithdrawalError::Shown(_)) => t.shown,
        DecisionError::Withdrawal(WithdrawalError::NotShown(_)) => t.not_shown,
        DecisionError::Withdrawal(WithdrawalError::Upstream(_))
        | DecisionError::Payment(ResolvePaymentError::Unread(_)) => t.unread,
        DecisionError::Payment(ResolvePaymentError::Returned) => t.returned,
        DecisionError::Payment(ResolvePaymentError::CoinsDiffer) => t.coins_differ,
        DecisionError::Payment(ResolvePaymentError::Refused(ReceiveError::NothingLeft)) => t.nothing_left,
        DecisionError::Payment(ResolvePaymentError::Refused(ReceiveError::NoRate)) => t.no_rate,
        DecisionError::Payment(ResolvePaymentError::Refused(
            ReceiveError::NoCoins | ReceiveError::NotIssued | ReceiveError::Coins(_) | ReceiveError::Money(_),
        )) => t.impossible,
    };
    Ok(text.to_owned())
}
