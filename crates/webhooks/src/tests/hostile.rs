//! Tests receivers that hang, drip, flood, redirect, disconnect or answer garbage. Such receivers must not block the
//! sender, and must not turn a success into a failure.

use super::server::{Act, Server, answer, closed_port};
use super::{PATIENT, SHORT, outcome, send, sender};
use crate::sender::{Budgets, HttpSender};

/// Returns a sender with a short limit for headers.
fn with_short_attempt() -> HttpSender {
    sender(Budgets { attempt: SHORT, ..PATIENT })
}

/// Returns a sender with a short limit for the body.
fn with_short_body_limit() -> HttpSender {
    sender(Budgets { body: SHORT, ..PATIENT })
}

#[tokio::test]
async fn receiver_with_endless_headers_times_out() {
    let head = b"HTTP/1.1 200 OK\r\n".to_vec();
    for act in [
        Act::ReplyThenHang(b"H".to_vec()),
        Act::ReplyThenHang(head.clone()),
        Act::Drip(Vec::new(), b"HTTP".to_vec()),
        Act::Drip(head, b"x-more: drops\r\n".to_vec()),
        Act::Flood(Vec::new(), b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
    ] {
        let server = Server::always(act).await;
        let sent = send(&with_short_attempt(), &server.url()).await;
        assert_eq!(outcome(&sent), "- timed_out");
        assert_eq!((server.seen().len(), sent.response_body, sent.retry_after), (1, None, None));
    }
}

#[tokio::test]
async fn hanging_receiver_times_out() {
    let server = Server::always(Act::ReplyThenHang(Vec::new())).await;
    assert_eq!(outcome(&send(&with_short_attempt(), &server.url()).await), "- timed_out");
}

#[tokio::test]
async fn oversized_headers_are_a_lost_connection() {
    for more in ["x-a: b\r\n", "x"] {
        let server = Server::always(Act::Flood(b"HTTP/1.1 200 OK\r\n".to_vec(), more.repeat(1_000).into_bytes())).await;
        assert_eq!(outcome(&send(&sender(PATIENT), &server.url()).await), "- connection_lost", "{more}");
    }
}

#[tokio::test]
async fn endless_body_does_not_change_a_success() {
    let gigabyte = b"HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n".to_vec();
    let endless = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let until_closed = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    let chunk = format!("1000\r\n{}\r\n", "a".repeat(0x1000)).into_bytes();
    for act in [
        Act::Flood(gigabyte.clone(), vec![b'a'; 65_536]),
        Act::Flood(endless, chunk),
        Act::Flood(until_closed, vec![b'a'; 65_536]),
    ] {
        let server = Server::always(act).await;
        // Only the limit of bytes can end the read, because the budgets are long.
        let sent = send(&sender(PATIENT), &server.url()).await;
        assert_eq!((outcome(&sent), sent.response_body), ("200 ok".to_owned(), Some("a".repeat(2_048))));
    }
    for act in [Act::ReplyThenHang(gigabyte.clone()), Act::Drip(gigabyte, b"a".to_vec())] {
        let server = Server::always(act).await;
        let sent = send(&with_short_body_limit(), &server.url()).await;
        assert_eq!(outcome(&sent), "200 ok");
        assert!(sent.response_body.is_none_or(|kept| kept.len() < 2_048 && kept.bytes().all(|byte| byte == b'a')));
    }
}

#[tokio::test]
async fn broken_body_does_not_change_a_success() {
    let cut = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf".to_vec();
    let chunks = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nZZZZ\r\n".to_vec();
    let packed = answer("200 OK", "content-encoding: gzip\r\n", "half");
    let unknown = answer("200 OK", "content-encoding: rot13, br\r\ncontent-type: \x01\r\n", "half");
    for bytes in [cut, chunks, packed, unknown] {
        let server = Server::always(Act::ReplyThenClose(bytes.clone())).await;
        let sent = send(&sender(PATIENT), &server.url()).await;
        assert_eq!(outcome(&sent), "200 ok", "{}", String::from_utf8_lossy(&bytes));
        assert_eq!(sent.response_body.as_deref(), Some("half"), "{}", String::from_utf8_lossy(&bytes));
    }
}

#[tokio::test]
async fn kept_answer_is_a_clean_text() {
    let mut bytes = b"HTTP/1.1 500 X\r\ncontent-type: text/html; charset=utf-16\r\n\r\n".to_vec();
    bytes.extend_from_slice(b"<h1>\0Oops\x1b[2J</h1>\r\n\xff\xc3\xa7");
    let server = Server::always(Act::ReplyThenClose(bytes)).await;
    let sent = send(&sender(PATIENT), &server.url()).await;
    assert_eq!(sent.response_body.as_deref(), Some("<h1>Oops[2J</h1>  \u{fffd}ç"));
}

#[tokio::test]
async fn garbage_headers_do_not_change_a_success() {
    let many = "x-many: y\r\n".repeat(200);
    for garbage in [
        &b"x-binary: \xff\xfe\x80\r\n"[..],
        b"bad name: a\r\n",
        b"bad\xffname: a\r\n",
        b": nameless\r\n",
        b"no colon\r\n",
        b"x-folded: a\r\n  b\r\n",
        b"x-control: a\x01b\r\n",
        b"x-empty:\r\n",
        b"retry-after: \xff\r\n",
        b"location: \xff\r\n",
        b"set-cookie: a=b; Domain=.example\r\n",
        many.as_bytes(),
    ] {
        let bytes = [b"HTTP/1.1 200 OK\r\n", garbage, b"content-length: 2\r\n\r\nok"].concat();
        let server = Server::always(Act::Reply(bytes)).await;
        let sender = sender(PATIENT);
        for _ in 0..2 {
            let sent = send(&sender, &server.url()).await;
            assert_eq!(outcome(&sent), "200 ok", "{}", String::from_utf8_lossy(garbage));
            assert_eq!(sent.response_body.as_deref(), Some("ok"));
        }
        assert!(server.seen().iter().all(|seen| !seen.headers.contains_key("cookie")));
    }
}

#[tokio::test]
async fn answer_that_is_no_http_is_a_lost_connection() {
    for bytes in [
        &b"SSH-2.0-OpenSSH_9.2\r\n"[..],
        b"220 mail.example ESMTP\r\n",
        b"\x15\x03\x01\x00\x02\x02\x46",
        b"<html>",
        b"HTTP/1.1 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"\0",
    ] {
        let server = Server::always(Act::ReplyThenClose(bytes.to_vec())).await;
        let sent = send(&sender(PATIENT), &server.url()).await;
        assert_eq!(outcome(&sent), "- connection_lost", "{}", String::from_utf8_lossy(bytes));
    }
}

#[tokio::test]
async fn lost_connection_differs_from_failed_connection() {
    let server = Server::always(Act::Cut).await;
    assert_eq!(outcome(&send(&sender(PATIENT), &server.url()).await), "- connection_lost");
    assert_eq!(server.seen().len(), 1, "a webhook is sent once");
    let (_closed, port) = closed_port();
    let closed = format!("http://127.0.0.1:{port}/");
    assert_eq!(outcome(&send(&sender(PATIENT), &closed).await), "- connection_failed");
}

#[tokio::test]
async fn receiver_that_disconnected_is_called_again() {
    let server = Server::start(None, |_, nth| match nth {
        1 => Act::Cut,
        _ => Act::Reply(answer("200 OK", "", "")),
    })
    .await;
    let sender = sender(PATIENT);
    let mut outcomes = Vec::new();
    for _ in 0..3 {
        outcomes.push(outcome(&send(&sender, &server.url()).await));
    }
    assert_eq!(outcomes, ["200 ok", "- connection_lost", "200 ok"]);
    assert_eq!((server.seen().len(), server.connections()), (3, 2));
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let inside = Server::always(Act::Reply(answer("200 OK", "", "secret"))).await;
    for status in [301, 302, 303, 307, 308] {
        let headers = format!("location: {}\r\n", inside.url());
        let server = Server::always(Act::Reply(answer(&format!("{status} X"), &headers, "moved"))).await;
        let sent = send(&sender(PATIENT), &server.url()).await;
        assert_eq!(outcome(&sent), format!("{status} redirected"));
        assert_eq!(sent.response_body.as_deref(), Some("moved"));
    }
    assert_eq!(inside.connections(), 0);
}
