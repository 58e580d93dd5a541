//! `cais acquirer test`: tests an acquirer against the Central Bank's API Pix, and writes a report file.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::pix_key::PixKey;
use clap::Args;
use serde_json::Value;

use crate::context::{AcquirerTest, CliContext};
use crate::output::Output;

/// The options of the test.
#[derive(Debug, Args)]
pub struct TestArgs {
    /// Name of the acquirer in the configuration; its credentials must be those of a homologation account
    #[arg(value_name = "NAME", value_parser = AcquirerName::parse)]
    name: AcquirerName,
    /// End-to-end id of a received Pix, of which the test refunds R$ 0.01; without `--paid` the refund is skipped
    #[arg(long, value_name = "E2EID", value_parser = EndToEndId::parse)]
    paid: Option<EndToEndId>,
    /// Pix key that receives a payout of R$ 0.01; without `--payout-to`, or with the kind `bacen`, the payout is skipped
    #[arg(long, value_name = "KEY", value_parser = PixKey::parse)]
    payout_to: Option<PixKey>,
    /// File of the report; by default `acquirer-test-NAME.json`
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// Runs the test, prints each step, and writes the report.
///
/// # Errors
/// The configuration has mistakes or no such acquirer, the acquirer has the kind `woovi`, or the report cannot be written.
pub async fn run(context: &dyn CliContext, args: TestArgs, output: Output) -> anyhow::Result<ExitCode> {
    let TestArgs { name, paid, payout_to, report } = args;
    let (found, is_clean) = context.test_acquirer(&name, &AcquirerTest { paid, payout_to }).await?;
    let file = report.unwrap_or_else(|| PathBuf::from(format!("acquirer-test-{name}.json")));
    let text = serde_json::to_string_pretty(&found)?;
    fs::write(&file, text + "\n").with_context(|| format!("{} cannot be written", file.display()))?;
    output.print(&found, || {
        let steps = found.get("steps").and_then(Value::as_array).into_iter().flatten();
        let lines: Vec<String> = steps.map(for_people).collect();
        format!("{}\nThe report is in {}.", lines.join("\n"), file.display())
    })?;
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns one line for a step that passed or was skipped. For a step that diverged, adds each divergence, the request and the answer.
fn for_people(step: &Value) -> String {
    let text = |name: &str| step.get(name).and_then(Value::as_str).unwrap_or_default();
    if let Some(reason) = step.get("skipped").and_then(Value::as_str) {
        return format!("skipped   {}: {reason}", text("name"));
    }
    let divergences: Vec<&str> =
        step.get("divergences").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    if divergences.is_empty() {
        return format!("ok        {}", text("name"));
    }
    let mut lines = vec![format!("diverges  {}", text("name"))];
    lines.extend(divergences.iter().map(|divergence| format!("          - {divergence}")));
    let shown = |name: &str| step.get(name).filter(|value| !value.is_null()).map(ToString::to_string);
    lines.push(format!("          request: {} {}", text("request"), shown("request_body").unwrap_or_default()));
    let status = shown("status").unwrap_or_else(|| "none".to_owned());
    lines.push(format!("          answer: {status} {}", shown("answer").unwrap_or_default()));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::for_people;

    #[test]
    fn diverging_step_shows_request_and_answer() {
        let step = json!({
            "name": "create", "request": "PUT /v2/cob/x", "request_body": {"a": 1}, "status": 200,
            "answer": {"b": 2}, "divergences": ["the status is 200"], "skipped": null,
        });
        let wanted = "diverges  create\n          - the status is 200\n          \
            request: PUT /v2/cob/x {\"a\":1}\n          answer: 200 {\"b\":2}";
        assert_eq!(for_people(&step), wanted);
        assert_eq!(for_people(&json!({"name": "read", "divergences": [], "skipped": null})), "ok        read");
        let skipped = json!({"name": "refund", "divergences": [], "skipped": "no Pix"});
        assert_eq!(for_people(&skipped), "skipped   refund: no Pix");
    }
}
