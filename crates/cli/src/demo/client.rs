//! A minimal HTTP/1.1 client. The demonstration calls the API with it, and `cais acquirer` reads the metrics of a service on this machine.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Longest wait for a response. The API may take up to 10 s for a POST, so this limit is higher.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Largest response that is read, in bytes. A charge with its image has only about 10 KiB.
const MAX_ANSWER: u64 = 4 * 1024 * 1024;

/// A request as it is shown and sent.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET`, `POST` or `DELETE`.
    pub method: &'static str,
    /// The path with its query.
    pub path: String,
    /// The header `Idempotency-Key`, which makes a retry safe.
    pub idempotency_key: Option<String>,
    /// The JSON body.
    pub body: Option<String>,
}

/// A response.
#[derive(Debug, Clone)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte.
    pub body: Vec<u8>,
}

impl Response {
    /// Parses the body as JSON.
    ///
    /// # Errors
    /// The body is not JSON.
    pub fn json(&self) -> anyhow::Result<Value> {
        serde_json::from_slice(&self.body).context("the answer is not JSON")
    }

    /// Returns the value of the header `name`, which must be in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// A client that sends requests to a service with one API key.
#[derive(Debug, Clone)]
pub struct Client {
    /// Address of the service.
    pub address: SocketAddr,
    /// The API key.
    pub key: String,
}

impl Client {
    /// Sends a request on a connection of its own.
    ///
    /// # Errors
    /// The service cannot be reached, does not respond within 15 s, or sends a malformed response.
    pub async fn send(&self, request: &Request) -> anyhow::Result<Response> {
        let answer = tokio::time::timeout(TIMEOUT, self.exchange(request)).await;
        answer.with_context(|| {
            format!("{} {} was not answered within {} s", request.method, request.path, TIMEOUT.as_secs())
        })?
    }

    async fn exchange(&self, request: &Request) -> anyhow::Result<Response> {
        let mut connection = TcpStream::connect(self.address).await.context("the service cannot be reached")?;
        connection.write_all(&self.bytes(request)).await?;
        let mut answer = Vec::new();
        connection.take(MAX_ANSWER).read_to_end(&mut answer).await?;
        parse(&answer)
    }

    fn bytes(&self, request: &Request) -> Vec<u8> {
        let body = request.body.as_deref().unwrap_or_default();
        let idempotency_key =
            request.idempotency_key.as_ref().map(|key| format!("idempotency-key: {key}\r\n")).unwrap_or_default();
        let content_type = request.body.as_ref().map_or("", |_| "content-type: application/json\r\n");
        let (method, path, address, key, length) = (request.method, &request.path, self.address, &self.key, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\nconnection: close\r\n{idempotency_key}{content_type}content-length: {length}\r\n\r\n{body}"
        );
        head.into_bytes()
    }
}

fn parse(answer: &[u8]) -> anyhow::Result<Response> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").context("the answer has no head")?;
    let (head, rest) = answer.split_at(end);
    let body = rest.get(4..).unwrap_or_default();
    let head = std::str::from_utf8(head).context("the answer's head is not text")?;
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .and_then(|status| status.parse().ok())
        .context("the answer has no status")?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let response = Response { status, headers, body: Vec::new() };
    let body = if response.header("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
        unchunk(body)?
    } else {
        let length = response.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(body.len());
        if body.len() < length {
            bail!("the answer was cut off");
        }
        body.get(..length).unwrap_or_default().to_vec()
    };
    Ok(Response { body, ..response })
}

/// Joins the chunks of a body (RFC 9112, section 7.1).
fn unchunk(mut rest: &[u8]) -> anyhow::Result<Vec<u8>> {
    const CUT_OFF: &str = "the answer was cut off";
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n").context(CUT_OFF)?;
        let size = std::str::from_utf8(rest.get(..end).unwrap_or_default())
            .ok()
            .and_then(|line| usize::from_str_radix(line.split(';').next()?.trim(), 16).ok());
        let size = size.context("the answer has a chunk without a size")?;
        if size == 0 {
            return Ok(body);
        }
        let from = end + 2;
        let to = from.checked_add(size).context(CUT_OFF)?;
        body.extend_from_slice(rest.get(from..to).context(CUT_OFF)?);
        rest = rest.get(to + 2..).context(CUT_OFF)?;
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::parse;

    #[test]
    fn responses_are_read_by_length_and_by_chunk() {
        let plain = parse(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nX-Y: z\r\n\r\n{}rest").unwrap();
        assert_eq!((plain.status, plain.header("x-y"), plain.body.as_slice()), (201, Some("z"), b"{}".as_slice()));
        let chunked =
            parse(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n").unwrap();
        assert_eq!(chunked.body, b"abcd");
    }

    #[test]
    fn truncated_responses_are_errors() {
        assert!(parse(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc").is_err());
        assert!(parse(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc").is_err());
        assert!(parse(b"HTTP/1.1 200 OK\r\n").is_err());
    }
}
