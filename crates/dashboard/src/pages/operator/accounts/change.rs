//! The first step of a change: reads the form and stores the change until its confirmation by a one-time code.

use actix_web::{HttpResponse, web};
use cais_domain::fee::{FeeRule, Operation};
use cais_domain::merchant::account::{Feature, Features, Limits};
use cais_domain::merchant::account_change::{AccountChange, MAX_RELEASE_DELAY_S};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_ports::PendingAction;
use cais_use_cases::logins::begin;

use super::show;
use crate::failure::Failure;
use crate::form::Form;
use crate::input;
use crate::layout::redirect;
use crate::texts::operator::OperatorTexts;

/// Stores the change of a form. The field `change` contains the kind of the change.
pub(crate) async fn submit(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let account = super::find(context, &id).await?;
    let t = OperatorTexts::of(context.language);
    let is_current = form.get("version") == account.version.to_string();
    match change(&form, t).and_then(|change| if is_current { Ok(change) } else { Err(t.changed_meanwhile) }) {
        Ok(change) => {
            let action = PendingAction::ChangeAccount { account: account.id, seen: account.version, change };
            let id = begin::begin(&context.dashboard.logins, context.operator()?, action).await?;
            Ok(redirect(&format!("/confirm/{id}")))
        }
        Err(error) => show::page(context, account, false, Some(error)).await,
    }
}

/// Returns the change, or the text about the form's first mistake.
fn change(form: &Form, t: &'static OperatorTexts) -> Result<AccountChange, &'static str> {
    match form.get("change") {
        "approve" => Ok(AccountChange::Approve),
        "reject" => Ok(AccountChange::Reject),
        "suspend" => Ok(AccountChange::Suspend),
        "resume" => Ok(AccountChange::Resume),
        "features" => {
            let chosen = form.all("feature").map(Feature::parse).collect::<Option<Vec<Feature>>>();
            let chosen = chosen.ok_or(t.change_wrong)?;
            Ok(AccountChange::Features(chosen.into_iter().fold(Features::default(), Features::with)))
        }
        "fees" => fees(form, t),
        "limits" => {
            let limit = |name| input::amount(form.get(name)).filter(|limit| limit.is_positive()).ok_or(t.limit_wrong);
            Ok(AccountChange::Limits(Limits { charge: limit("charge")?, payout: limit("payout")? }))
        }
        "release_delay" => {
            let seconds = form.get("seconds").parse().ok().filter(|seconds| *seconds <= MAX_RELEASE_DELAY_S);
            seconds.map(AccountChange::ReleaseDelay).ok_or(t.release_delay_wrong)
        }
        _ => Err(t.change_wrong),
    }
}

fn fees(form: &Form, t: &'static OperatorTexts) -> Result<AccountChange, &'static str> {
    let operation = Operation::parse(form.get("operation")).ok_or(t.change_wrong)?;
    let bound = |name| -> Result<Option<Money>, &'static str> {
        let text = form.get(name);
        if text.is_empty() { Ok(None) } else { input::amount(text).map(Some).ok_or(t.fee_wrong) }
    };
    let fixed = input::amount(form.get("fixed")).ok_or(t.fee_wrong)?;
    let percentage = Percentage::parse(&form.get("percentage").replace(',', ".")).map_err(|_| t.percentage_wrong)?;
    let rule = FeeRule::try_new(fixed, percentage, bound("min")?, bound("max")?).map_err(|_| t.fee_bounds_wrong)?;
    Ok(AccountChange::Fees(operation, rule))
}
