//! An operator's decision on a record in review, as plain data. The same value is shown to the operator, stored until
//! the operator confirms the decision, and then executed.

use crate::acquirer_name::AcquirerName;
use crate::crypto::ProcessorId;
use crate::ids::{CryptoWithdrawalId, InfractionId};
use crate::money::Money;
use crate::text::{LineBreaks, Text, TextError};

/// The longest note of a decision, in characters.
pub const MAX_NOTE_CHARS: usize = 500;

/// The decision on an infraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InfractionDecision {
    /// The dispute was rejected.
    Won,
    /// The dispute was accepted and the amount was returned. `None` stands for the disputed amount, or for the part of
    /// the Pix that can still be blocked, if that part is smaller.
    Lost(Option<Money>),
    /// The dispute was withdrawn.
    Cancelled,
}

/// The decision on a crypto withdrawal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WithdrawalDecision {
    /// The coins were sent, in this transaction on the chain.
    Sent {
        /// The hash of the transaction, as the operator wrote it.
        tx_hash: Text,
    },
    /// The coins will never be sent. The amount and the fee return to `available`.
    Failed,
}

/// The decision on a payment to the address of a crypto deposit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentDecision {
    /// This amount is credited. No fee is subtracted.
    Credit(Money),
    /// All coins of the payment are credited at the rate of the deposit, less the fee.
    CreditAtRate,
    /// No money is credited. An earlier credit of the payment stays.
    Dismiss,
}

/// A decision, and the record that it concerns. `seen` is the version of the record that the operator saw. If the
/// record has another version when the decision is executed, the decision is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewDecision {
    /// Ends an infraction.
    Infraction {
        /// The infraction.
        id: InfractionId,
        /// The version of the infraction that the operator saw.
        seen: i64,
        /// The decision.
        decision: InfractionDecision,
    },
    /// Ends a crypto withdrawal. The decision has no version, because each look-up at the processor changes the version
    /// of the withdrawal. Instead, the withdrawal is read again at the processor before the decision is executed.
    Withdrawal {
        /// The withdrawal.
        id: CryptoWithdrawalId,
        /// The decision.
        decision: WithdrawalDecision,
    },
    /// Ends the review of a payment to the address of a crypto deposit.
    Payment {
        /// The processor that received the payment.
        processor: AcquirerName,
        /// The processor's id of the payment.
        id: ProcessorId,
        /// The version of the payment that the operator saw.
        seen: i64,
        /// The decision.
        decision: PaymentDecision,
    },
}

/// The reason why a text is not valid as a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// The text is empty.
    #[error("must not be empty")]
    Empty,
    /// The text is too long or has control characters.
    #[error(transparent)]
    Text(#[from] TextError),
}

/// Parses a note of the operator: the reason of a decision, or the transaction of a withdrawal. A note is one line, and
/// not empty. Blanks at both ends are removed.
///
/// # Errors
/// [`NoteError`].
pub fn parse_note(text: &str) -> Result<Text, NoteError> {
    match text.trim() {
        "" => Err(NoteError::Empty),
        text => Ok(Text::parse(text, MAX_NOTE_CHARS, LineBreaks::Refused)?),
    }
}

impl ReviewDecision {
    /// Returns the name of this kind of decision, such as `infraction.resolve`. The audit log uses the same name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Infraction { .. } => "infraction.resolve",
            Self::Withdrawal { .. } => "crypto_withdrawal.resolve",
            Self::Payment { .. } => "crypto_payment.resolve",
        }
    }

    /// Returns the id of the record and the values of the decision, one per line. [`ReviewDecision::parse`] reads this
    /// text.
    #[must_use]
    pub fn terms(&self) -> String {
        match self {
            Self::Infraction { id, seen, decision } => match decision {
                InfractionDecision::Won => format!("{id}\n{seen}\nwon"),
                InfractionDecision::Lost(None) => format!("{id}\n{seen}\nlost"),
                InfractionDecision::Lost(Some(amount)) => format!("{id}\n{seen}\nlost\n{amount}"),
                InfractionDecision::Cancelled => format!("{id}\n{seen}\ncancelled"),
            },
            Self::Withdrawal { id, decision } => match decision {
                WithdrawalDecision::Sent { tx_hash } => format!("{id}\nsent\n{}", tx_hash.as_str()),
                WithdrawalDecision::Failed => format!("{id}\nfailed"),
            },
            Self::Payment { processor, id, seen, decision } => match decision {
                PaymentDecision::Credit(amount) => format!("{processor}\n{id}\n{seen}\ncredit\n{amount}"),
                PaymentDecision::CreditAtRate => format!("{processor}\n{id}\n{seen}\ncredit_at_rate"),
                PaymentDecision::Dismiss => format!("{processor}\n{id}\n{seen}\ndismiss"),
            },
        }
    }

    /// Parses the texts of [`ReviewDecision::name`] and [`ReviewDecision::terms`]. Returns `None` if the name is
    /// unknown or a value is invalid.
    #[must_use]
    pub fn parse(name: &str, terms: &str) -> Option<Self> {
        let positive = |text: &str| Money::parse(text).ok().filter(|money| money.is_positive());
        let lines: Vec<&str> = terms.split('\n').collect();
        match (name, lines.as_slice()) {
            ("infraction.resolve", [id, seen, outcome @ ..]) => {
                let decision = match outcome {
                    ["won"] => InfractionDecision::Won,
                    ["lost"] => InfractionDecision::Lost(None),
                    ["lost", amount] => InfractionDecision::Lost(Some(positive(amount)?)),
                    ["cancelled"] => InfractionDecision::Cancelled,
                    _ => return None,
                };
                Some(Self::Infraction { id: InfractionId::parse(id).ok()?, seen: seen.parse().ok()?, decision })
            }
            ("crypto_withdrawal.resolve", [id, outcome @ ..]) => {
                let decision = match outcome {
                    ["sent", tx_hash] => WithdrawalDecision::Sent { tx_hash: parse_note(tx_hash).ok()? },
                    ["failed"] => WithdrawalDecision::Failed,
                    _ => return None,
                };
                Some(Self::Withdrawal { id: CryptoWithdrawalId::parse(id).ok()?, decision })
            }
            ("crypto_payment.resolve", [processor, id, seen, outcome @ ..]) => {
                let decision = match outcome {
                    ["credit", amount] => PaymentDecision::Credit(positive(amount)?),
                    ["credit_at_rate"] => PaymentDecision::CreditAtRate,
                    ["dismiss"] => PaymentDecision::Dismiss,
                    _ => return None,
                };
                let (processor, id) = (AcquirerName::parse(processor).ok()?, ProcessorId::parse(id).ok()?);
                Some(Self::Payment { processor, id, seen: seen.parse().ok()?, decision })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use uuid::Uuid;

    use super::*;

    #[test]
    fn decision_is_parsed_back_from_name_and_terms() {
        let infraction =
            |decision| ReviewDecision::Infraction { id: InfractionId::new(Uuid::nil()), seen: 3, decision };
        let withdrawal = |decision| ReviewDecision::Withdrawal { id: CryptoWithdrawalId::new(Uuid::nil()), decision };
        let payment = |decision| ReviewDecision::Payment {
            processor: AcquirerName::parse("now-payments").unwrap(),
            id: ProcessorId::parse("5077125051").unwrap(),
            seen: 2,
            decision,
        };
        for decision in [
            infraction(InfractionDecision::Won),
            infraction(InfractionDecision::Lost(None)),
            infraction(InfractionDecision::Lost(Some(Money::from_centavos(250)))),
            infraction(InfractionDecision::Cancelled),
            withdrawal(WithdrawalDecision::Sent { tx_hash: parse_note(" 0xabc, block 7 ").unwrap() }),
            withdrawal(WithdrawalDecision::Failed),
            payment(PaymentDecision::Credit(Money::from_centavos(1))),
            payment(PaymentDecision::CreditAtRate),
            payment(PaymentDecision::Dismiss),
        ] {
            assert_eq!(ReviewDecision::parse(decision.name(), &decision.terms()), Some(decision));
        }
    }

    #[test]
    fn invalid_terms_parse_to_none() {
        let (infraction, withdrawal) = (InfractionId::new(Uuid::nil()), CryptoWithdrawalId::new(Uuid::nil()));
        for (name, terms) in [
            ("infraction.resolve", format!("{infraction}\n1\nopen")),
            ("infraction.resolve", format!("{infraction}\n1\nwon\n1.00")),
            ("infraction.resolve", format!("{infraction}\n1\nlost\n0.00")),
            ("infraction.resolve", format!("{infraction}\nwon")),
            ("crypto_withdrawal.resolve", format!("{withdrawal}\nsent")),
            ("crypto_withdrawal.resolve", format!("{withdrawal}\nsent\n")),
            ("crypto_withdrawal.resolve", format!("{withdrawal}\nfailed\n0xabc")),
            ("crypto_payment.resolve", "p\n1\n1\ncredit\n-1.00".to_owned()),
            ("crypto_payment.resolve", "p\n1\n1\ncredit".to_owned()),
            ("crypto_payment.resolve", "p\n1\n1\ncredit_at_rate\n1.00".to_owned()),
            ("crypto_payment.resolve", "p\n1\ndismiss".to_owned()),
            ("crypto_payment.delete", "p\n1\n1\ndismiss".to_owned()),
        ] {
            assert_eq!(ReviewDecision::parse(name, &terms), None, "{name} {terms}");
        }
    }

    #[test]
    fn note_is_one_line_that_is_not_empty() {
        assert_eq!(parse_note(" \t"), Err(NoteError::Empty));
        assert!(parse_note("a\nb").is_err());
        assert!(parse_note(&"é".repeat(MAX_NOTE_CHARS)).is_ok());
        assert!(parse_note(&"é".repeat(MAX_NOTE_CHARS + 1)).is_err());
    }
}
