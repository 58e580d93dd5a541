//! A small HTTP receiver for callbacks that answers given statuses, then 200.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::Instant,
};

use crate::bed::eventually;

#[derive(Clone, Debug)]
pub struct Received {
    pub path: String,
    pub body: Value,
    pub text: String,
    pub head: String,
    pub at: Instant,
}

impl Received {
    /// Returns the value of a header, whose name is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.lines().filter_map(|line| line.split_once(": "));
        fields.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

#[derive(Clone)]
pub struct Receiver {
    pub url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    pub async fn start(statuses: &[u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let statuses = Arc::new(Mutex::new(statuses.iter().copied().collect::<VecDeque<_>>()));
        let log = received.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, log.clone(), statuses.clone()));
            }
        });
        Self { url, received }
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Waits until `count` requests have come.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        eventually(async || Some(self.received()).filter(|received| received.len() >= count)).await
    }
}

async fn serve(mut stream: TcpStream, log: Arc<Mutex<Vec<Received>>>, statuses: Arc<Mutex<VecDeque<u16>>>) {
    let mut bytes = Vec::new();
    loop {
        let head_end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        if let Some(end) = head_end {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let lower = head.to_lowercase();
            let length: usize =
                lower.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
            if bytes.len() >= end + 4 + length {
                let text = String::from_utf8(bytes[end + 4..].to_vec()).unwrap();
                let body = serde_json::from_str(&text).unwrap();
                let path = head.split(' ').nth(1).unwrap().to_owned();
                log.lock().unwrap().push(Received { path, body, text, head, at: Instant::now() });
                break;
            }
        }
        if stream.read_buf(&mut bytes).await.unwrap() == 0 {
            return;
        }
    }
    let status = statuses.lock().unwrap().pop_front().unwrap_or(200);
    let answer =
        format!("HTTP/1.1 {status} X\r\nlocation: /elsewhere\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes()).await.unwrap();
}
