//! `cais payout`: lets an operator credit a payout's return that the service cannot read at the acquirer.

use cais_domain::end_to_end_id::ReturnId;
use cais_domain::ids::PayoutId;
use cais_domain::money::Money;
use cais_domain::payout::Payout;
use cais_domain::text::Text;
use cais_http_api::resources::payout::Payout as PayoutBody;
use cais_ports::Actor;
use cais_use_cases::Ports;
use cais_use_cases::payouts::credit_return::{SeenReturn, credit_return};
use clap::Subcommand;
use serde_json::Value;

use crate::infraction::note;
use crate::output::{Output, amount};

/// The commands for payouts.
#[derive(Debug, Subcommand)]
pub enum PayoutCommand {
    /// Credit the return of a completed payout to the payout's account. Each return is credited only once
    CreditReturn {
        /// Id of the payout, `pyt_…`
        #[arg(value_parser = PayoutId::parse)]
        id: PayoutId,
        /// Country-wide id of the return, as the acquirer shows it: `D` and 31 letters and digits
        #[arg(long, value_parser = return_id)]
        return_id: ReturnId,
        /// Returned amount in BRL, such as 20.50; the payout's fee is not credited
        #[arg(long, value_parser = crate::account::positive)]
        amount: Money,
        /// Reason of the credit, for the audit log
        #[arg(long, value_parser = note)]
        note: Text,
    },
}

/// Parses the id of a return. The first letter is checked, because an end-to-end id has the same format but begins with `E`.
fn return_id(text: &str) -> Result<ReturnId, String> {
    match ReturnId::parse(text) {
        Ok(id) if text.starts_with('D') => Ok(id),
        Ok(_) => Err("must begin with D, as every return of a Pix".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs the command.
///
/// # Errors
/// The payout does not exist or is not completed, the return belongs to another record, the amount is too high, or the store fails.
pub async fn run(ports: &Ports, operator: &Actor, command: PayoutCommand, output: Output) -> anyhow::Result<()> {
    let PayoutCommand::CreditReturn { id, return_id, amount, note } = command;
    let seen = SeenReturn { payout: id, return_id, amount, note };
    let (payout, credited) = credit_return(ports, operator, &seen).await?;
    output.print(&as_json(&payout, credited)?, || {
        let status = payout.state.status().as_str();
        if credited {
            format!("{amount} is credited. The payout {id} is {status}.")
        } else {
            format!("The return was credited before. The payout {id} is {status}.")
        }
    })?;
    Ok(())
}

/// Returns the payout's JSON as in the API, with additional fields for operators.
fn as_json(payout: &Payout, credited: bool) -> anyhow::Result<Value> {
    let mut value: Value = serde_json::to_value(PayoutBody::from(payout))?;
    if let Value::Object(object) = &mut value {
        let more = [
            ("account_id", Value::from(payout.account.to_string())),
            ("acquirer", Value::from(payout.state.acquirer().as_str())),
            ("returned", amount(payout.returned)),
            ("credited", Value::from(credited)),
        ];
        object.extend(more.map(|(name, value)| (name.to_owned(), value)));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::return_id;

    #[test]
    fn return_id_begins_with_d() {
        assert!(return_id("D1234567820260102030400000000001").is_ok());
        for wrong in ["E1234567820260102030400000000001", "D123", ""] {
            assert!(return_id(wrong).is_err(), "{wrong}");
        }
    }
}
