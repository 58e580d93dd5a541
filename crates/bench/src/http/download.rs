//! Reads a chunked body (RFC 9112, section 7.1) to its end. Lines and bytes are counted, and the content is dropped.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::connection::END_OF_HEAD;

/// The time limit for the opening of the connection, and for each read.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The most bytes per read.
const PIECE: usize = 64 * 1024;
const CHUNKED: &str = "transfer-encoding: chunked";

/// The counts of a download.
#[derive(Debug, Clone, Copy)]
pub struct Downloaded {
    /// Lines of the body.
    pub lines: u64,
    /// Bytes of the body.
    pub bytes: u64,
    /// The time from the start of the connection to the end of the body, without the pause.
    pub elapsed: Duration,
}

/// Sends a request and reads the answer to its end. After the head, reading stops for `pause`.
///
/// # Errors
/// If the answer is not 200, is not chunked, is late, or ends before its last chunk.
pub async fn download(address: SocketAddr, request: &[u8], pause: Duration) -> Result<Downloaded> {
    let began = Instant::now();
    let mut stream =
        timeout(TIMEOUT, TcpStream::connect(address)).await.context("the connection did not open in time")??;
    stream.write_all(request).await?;
    let mut buffer = Vec::with_capacity(PIECE);
    let body = loop {
        receive(&mut stream, &mut buffer).await?;
        if let Some(body) = begin(&buffer)? {
            break body;
        }
    };
    let mut chunks = Chunks::default();
    chunks.take(buffer.get(body..).unwrap_or_default())?;
    sleep(pause).await;
    while !chunks.ended() {
        buffer.clear();
        receive(&mut stream, &mut buffer).await?;
        chunks.take(&buffer)?;
    }
    Ok(Downloaded { lines: chunks.lines, bytes: chunks.bytes, elapsed: began.elapsed().saturating_sub(pause) })
}

async fn receive(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<()> {
    let received = timeout(TIMEOUT, stream.read_buf(buffer)).await.context("no data arrived in time")??;
    ensure!(received > 0, "the connection was closed before the end");
    Ok(())
}

/// Returns the position of the body. Returns `None` while the head is incomplete.
fn begin(bytes: &[u8]) -> Result<Option<usize>> {
    let Some(end) = bytes.windows(END_OF_HEAD.len()).position(|window| window == END_OF_HEAD) else { return Ok(None) };
    let head = String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).to_ascii_lowercase();
    ensure!(head.starts_with("http/1.1 200"), "{head}");
    ensure!(head.lines().any(|line| line == CHUNKED), "the answer is not chunked: {head}");
    Ok(Some(end.saturating_add(END_OF_HEAD.len())))
}

/// The position within a chunked body, with the counts up to that position.
#[derive(Debug, Default)]
struct Chunks {
    at: At,
    lines: u64,
    bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// In the size of a chunk. `None` before the first digit of the size.
    Size(Option<usize>),
    /// This number of bytes before the end of a chunk.
    Data(usize),
    /// After the last chunk.
    End,
}

impl Default for At {
    fn default() -> Self {
        Self::Size(None)
    }
}

impl Chunks {
    fn ended(&self) -> bool {
        self.at == At::End
    }

    fn take(&mut self, mut bytes: &[u8]) -> Result<()> {
        while let Some((byte, rest)) = bytes.split_first() {
            match self.at {
                At::Size(size) => {
                    self.at = after(size, *byte)?;
                    bytes = rest;
                }
                At::Data(left) => {
                    let (data, rest) = bytes.split_at(left.min(bytes.len()));
                    let lines = data.split(|byte| *byte == b'\n').count().saturating_sub(1);
                    self.lines = self.lines.saturating_add(u64::try_from(lines)?);
                    self.bytes = self.bytes.saturating_add(u64::try_from(data.len())?);
                    let left = left.saturating_sub(data.len());
                    self.at = if left == 0 { At::Size(None) } else { At::Data(left) };
                    bytes = rest;
                }
                At::End => return Ok(()),
            }
        }
        Ok(())
    }
}

/// Returns the position after one more byte of the line with a chunk's size.
fn after(size: Option<usize>, byte: u8) -> Result<At> {
    match (size, byte) {
        (size, b'\r') => Ok(At::Size(size)),
        (None, b'\n') => Ok(At::Size(None)),
        (Some(0), b'\n') => Ok(At::End),
        (Some(size), b'\n') => Ok(At::Data(size)),
        (size, digit) => {
            let Some(digit) = char::from(digit).to_digit(16) else {
                bail!("the size of a chunk has the invalid byte {digit}")
            };
            let size = size.unwrap_or_default().checked_mul(16).context("a chunk is too large")?;
            Ok(At::Size(Some(size.saturating_add(usize::try_from(digit)?))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_across_any_pieces() {
        let body = b"5\r\na\r\nb\r\r\n1\r\n\n\r\n1A\r\nxxxxxxxxxxxx\nxxxxxxxxxxxxx\r\n0\r\n\r\n";
        for cut in 1..body.len() {
            let mut chunks = Chunks::default();
            let (first, second) = body.split_at(cut);
            assert!(chunks.take(first).is_ok() && chunks.take(second).is_ok());
            assert_eq!((chunks.lines, chunks.bytes, chunks.ended()), (3, 32, true), "cut at {cut}");
        }
    }

    #[test]
    fn body_without_last_chunk_has_not_ended() {
        let mut chunks = Chunks::default();
        assert!(chunks.take(b"2\r\na\n\r\n").is_ok() && !chunks.ended());
        assert!(Chunks::default().take(b"xyz").is_err());
    }

    #[test]
    fn only_chunks_after_200_are_read() {
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5";
        assert_eq!(begin(head).ok(), Some(Some(47)));
        assert_eq!(begin(b"HTTP/1.1 200 OK\r\n").ok(), Some(None));
        assert!(begin(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1").is_err());
        assert!(begin(b"HTTP/1.1 401 Unauthorized\r\ntransfer-encoding: chunked\r\n\r\n").is_err());
    }
}
