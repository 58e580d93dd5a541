//! A persistent connection. Of an HTTP/1.1 answer (RFC 9112), only the status and the length are parsed.

use std::net::SocketAddr;
use std::ops::Range;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The time limit for the opening of a connection, and for each answer.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The largest permitted answer, in bytes.
const MAX_ANSWER: usize = 4 * 1024 * 1024;
const LENGTH_HEADER: &[u8] = b"content-length:";
/// The end of the head of a request or an answer.
pub const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// A connection to the measured service.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer. The body is borrowed from the connection.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: &'a [u8],
}

struct Head {
    status: u16,
    body: Range<usize>,
}

impl Connection {
    /// Connects to the service at `address`.
    ///
    /// # Errors
    /// If the connection is refused or does not open within 20 s.
    pub async fn open(address: SocketAddr) -> Result<Self> {
        let stream =
            timeout(TIMEOUT, TcpStream::connect(address)).await.context("the connection did not open in time")??;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(16 * 1024) })
    }

    /// Sends a whole request and returns its whole answer.
    ///
    /// # Errors
    /// If the connection breaks, or the answer is late, too large, or without `content-length`.
    pub async fn ask(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.buffer.clear();
        let head = timeout(TIMEOUT, self.exchange(request)).await.context("no answer in time")??;
        let body = self.buffer.get(head.body).context("the answer is shorter than its content-length")?;
        Ok(Answer { status: head.status, body })
    }

    async fn exchange(&mut self, request: &[u8]) -> Result<Head> {
        self.stream.write_all(request).await?;
        let mut head = None;
        loop {
            ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the connection was closed");
            ensure!(self.buffer.len() <= MAX_ANSWER, "the answer is too large");
            if head.is_none() {
                head = parse(&self.buffer)?;
            }
            if let Some(found) = head.take_if(|head| self.buffer.len() >= head.body.end) {
                return Ok(found);
            }
        }
    }
}

/// Parses the head of an answer. Returns `None` while the head is incomplete.
fn parse(bytes: &[u8]) -> Result<Option<Head>> {
    let Some(end) = bytes.windows(END_OF_HEAD.len()).position(|window| window == END_OF_HEAD) else { return Ok(None) };
    let head = bytes.get(..end).unwrap_or_default();
    let start = end.saturating_add(END_OF_HEAD.len());
    let status = head.get(9..12).and_then(number).and_then(|status| u16::try_from(status).ok());
    let Some(status) = status else { bail!("no status line: {}", String::from_utf8_lossy(head)) };
    let length = head.split(|byte| *byte == b'\n').find_map(|line| {
        let (name, value) = line.split_at_checked(LENGTH_HEADER.len())?;
        if name.eq_ignore_ascii_case(LENGTH_HEADER) { number(value.trim_ascii()) } else { None }
    });
    let length = length.context("the answer has no content-length")?;
    Ok(Some(Head { status, body: start..start.saturating_add(length) }))
}

fn number(digits: &[u8]) -> Option<usize> {
    str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_is_parsed_once_complete() {
        let answer = b"HTTP/1.1 201 Created\r\nx: y\r\nContent-Length: 2\r\n\r\n{}";
        let found = |bytes: &[u8]| parse(bytes).ok().flatten().map(|head| (head.status, head.body));
        assert_eq!(found(answer), Some((201, 49..51)));
        assert_eq!(found(answer.get(..40).unwrap_or_default()), None);
        assert!(parse(b"HTTP/1.1 204 No Content\r\n\r\n").is_err());
        assert!(parse(b"nonsense\r\n\r\n").is_err());
    }
}
