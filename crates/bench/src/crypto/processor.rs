//! The processor's payments, one for each deposit, read through its API.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::http::{Connection, post};
use crate::upstream::institution::Institution;

/// The number of payments per page: the processor's limit.
const PAGE: usize = 500;

/// Returns the ids of all payments.
///
/// # Errors
/// If the processor does not answer as documented.
pub async fn payments(institution: &Institution) -> Result<Vec<String>> {
    let mut connection = Connection::open(institution.address()?).await?;
    let login = json!({
        "email": institution.credential("crypto_email")?,
        "password": institution.credential("crypto_password")?,
    });
    let answer = read(&mut connection, &post("/v1/auth", "", "", &login.to_string())).await?;
    let token = answer.get("token").and_then(Value::as_str).context("no token")?.to_owned();
    let api_key = institution.credential("crypto_api_key")?;
    let mut all = Vec::new();
    loop {
        let page = all.len() / PAGE;
        let request = format!(
            "GET /v1/payment/?limit={PAGE}&page={page} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: {api_key}\r\n\
             authorization: Bearer {token}\r\n\r\n"
        );
        let answer = read(&mut connection, request.as_bytes()).await?;
        let rows = answer.get("data").and_then(Value::as_array).context("no page")?;
        let ids = rows.iter().map(|row| row.get("payment_id").map(Value::to_string).context("no id"));
        all.extend(ids.collect::<Result<Vec<_>>>()?);
        if rows.len() < PAGE {
            return Ok(all);
        }
    }
}

async fn read(connection: &mut Connection, request: &[u8]) -> Result<Value> {
    let answer = connection.ask(request).await?;
    ensure!(answer.status == 200, "{}: {}", answer.status, String::from_utf8_lossy(answer.body));
    Ok(serde_json::from_slice(answer.body)?)
}
