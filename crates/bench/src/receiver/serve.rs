//! The process of the receivers. Each endpoint listens on its own port.

use std::io::{BufRead as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::log::Log;
use super::{Order, wire};
use crate::clock;

const TAKEN: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok";
const REFUSED: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

type Shared = Arc<Mutex<Log>>;

/// Prints the ports. Then serves, and reads orders from the standard input, until that input ends.
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
        say(&serde_json::to_string(&ports)?)?;
        std::thread::spawn(move || {
            // Without orders the process has no purpose, so an error also ends it.
            let _ = obey(&log);
            let _ = end.send(());
        });
        ended.await.context("the thread that reads orders ended")
    })
}

/// Reads orders from the standard input and answers them, until the input ends.
fn obey(log: &Shared) -> Result<()> {
    for line in std::io::stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?)? {
            Order::Trust(secrets) => {
                lock(log).trust(&secrets)?;
                "null".to_owned()
            }
            Order::Hang(endpoints) => {
                lock(log).hang(endpoints);
                "null".to_owned()
            }
            Order::Progress => serde_json::to_string(&lock(log).progress())?,
            Order::Take => {
                let taken = lock(log).take();
                serde_json::to_string(&taken)?
            }
        };
        say(&answer)?;
    }
    Ok(())
}

fn say(line: &str) -> Result<()> {
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
        let taken = match wire::read(&buffer) {
            Ok(None) => continue,
            Ok(Some(_)) if lock(log).leaves_waiting(place) => return wait_for_end(stream).await,
            Ok(Some(hook)) => lock(log).receive(place, &hook, clock::now_us()).map(|()| hook.length),
            Err(error) => Err(error),
        };
        match taken {
            Ok(length) => {
                stream.write_all(TAKEN).await?;
                buffer.drain(..length);
            }
            Err(error) => {
                lock(log).refuse(&error);
                return Ok(stream.write_all(REFUSED).await?);
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
