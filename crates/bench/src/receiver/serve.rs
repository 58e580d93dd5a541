//! The process of the receivers. Each endpoint listens on its own port.

use std::io::{BufRead as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::log::Log;
use super::{ReceiverCommand, wire};
use crate::clock;

const OK_RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok";
const BAD_REQUEST_RESPONSE: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

type Shared = Arc<Mutex<Log>>;

/// Prints the ports. Then serves, and reads commands from the standard input, until that input ends.
///
/// # Errors
/// If a port cannot be opened.
pub fn serve(endpoints: usize) -> Result<()> {
    let log = Arc::new(Mutex::new(Log::new(endpoints)));
    let (end, ended) = oneshot::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut ports = Vec::new();
        for place in 0..endpoints {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
            ports.push(listener.local_addr()?.port());
            tokio::spawn(listen(listener, place, Arc::clone(&log)));
        }
        print_line(&serde_json::to_string(&ports)?)?;
        std::thread::spawn(move || {
            // Without commands the process has no purpose, so an error also ends it.
            let _ = answer_commands(&log);
            let _ = end.send(());
        });
        ended.await.context("the thread that reads commands ended")
    })
}

/// Reads commands from the standard input and answers them, until the input ends.
fn answer_commands(log: &Shared) -> Result<()> {
    for line in std::io::stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?)? {
            ReceiverCommand::SetSecrets(secrets) => {
                lock(log).set_secrets(&secrets)?;
                "null".to_owned()
            }
            ReceiverCommand::Hang(endpoints) => {
                lock(log).hang(endpoints);
                "null".to_owned()
            }
            ReceiverCommand::Progress => serde_json::to_string(&lock(log).progress())?,
            ReceiverCommand::Take => {
                let received = lock(log).take();
                serde_json::to_string(&received)?
            }
        };
        print_line(&answer)?;
    }
    Ok(())
}

fn print_line(line: &str) -> Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")?;
    Ok(output.flush()?)
}

async fn listen(listener: TcpListener, place: usize, log: Shared) {
    while let Ok((stream, _)) = listener.accept().await {
        let log = Arc::clone(&log);
        tokio::spawn(async move {
            // The error is ignored: the connection is broken, and an invalid request was recorded before.
            let _ = answer(stream, place, &log).await;
        });
    }
}

async fn answer(mut stream: TcpStream, place: usize, log: &Shared) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(4 * 1024);
    while stream.read_buf(&mut buffer).await? > 0 {
        let received_length = match wire::read(&buffer) {
            Ok(None) => continue,
            Ok(Some(_)) if lock(log).count_if_hanging(place) => return wait_for_end(stream).await,
            Ok(Some(hook)) => lock(log).receive(place, &hook, clock::now_us()).map(|()| hook.length),
            Err(error) => Err(error),
        };
        match received_length {
            Ok(length) => {
                stream.write_all(OK_RESPONSE).await?;
                buffer.drain(..length);
            }
            Err(error) => {
                lock(log).refuse(&error);
                return Ok(stream.write_all(BAD_REQUEST_RESPONSE).await?);
            }
        }
    }
    Ok(())
}

/// Sends nothing until the client closes the connection.
async fn wait_for_end(mut stream: TcpStream) -> Result<()> {
    let mut rest = [0; 1024];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

fn lock(log: &Shared) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}
