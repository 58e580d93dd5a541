//! The ways in which the answer to a request with an effect can be lost.

use std::time::Duration;

use serde_json::{Value, json};

use crate::answers::{BUDGET, html, http, json_reply, problem};
use crate::server::Act;

/// Returns every way to lose `answer`, with the budget of the call.
pub fn losses(answer: &Value) -> Vec<(&'static str, Act, Duration)> {
    let text = answer.to_string();
    let whole = http(201, "application/json", &text);
    let cut_short = whole.get(..whole.len() - 40).unwrap().to_vec();
    let half_head = b"HTTP/1.1 201 X\r\ncontent-type: app".to_vec();
    let half_json = http(201, "application/json", text.get(..text.len() - 40).unwrap());
    let huge = http(201, "application/json", &" ".repeat(300 * 1024));
    let chunk = format!("{:x}\r\n{}\r\n", 64 * 1024, " ".repeat(64 * 1024)).repeat(5);
    let chunked = format!(
        "HTTP/1.1 201 X\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n{chunk}0\r\n\r\n"
    );
    let short = Duration::from_millis(1_800);
    vec![
        ("closed without a word", Act::Cut, BUDGET),
        ("reset", Act::Reset, BUDGET),
        ("no answer", Act::Hang, short),
        ("dripping", Act::Drip(whole), short),
        ("no answer after half of the head", Act::ReplyThenHang(half_head.clone()), short),
        ("no answer after half of the body", Act::ReplyThenHang(cut_short.clone()), short),
        ("reset within the head", Act::ReplyThenReset(half_head), BUDGET),
        ("reset within the body", Act::ReplyThenReset(cut_short.clone()), BUDGET),
        ("cut within the body", Act::ReplyThenClose(cut_short), BUDGET),
        ("cut within the head", Act::ReplyThenClose(b"HTTP/1.1 201".to_vec()), BUDGET),
        ("truncated JSON", Act::Reply(half_json), BUDGET),
        ("too large", Act::ReplyThenClose(huge), BUDGET),
        ("too large in chunks", Act::ReplyThenClose(chunked.into_bytes()), BUDGET),
        ("not HTTP", Act::ReplyThenClose(b"SSH-2.0-OpenSSH\r\n\r\n".to_vec()), BUDGET),
        ("HTML with 200", html(200), BUDGET),
        ("JSON called HTML", Act::Reply(http(201, "text/html", &text)), BUDGET),
        ("an empty 201", Act::Reply(http(201, "application/json", "")), BUDGET),
        ("another JSON", json_reply(201, &json!([1, 2])), BUDGET),
        (
            "a redirect",
            Act::Reply(b"HTTP/1.1 307 X\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n".to_vec()),
            BUDGET,
        ),
        ("500 with a problem", problem(500, "ErroInternoDoServidor"), BUDGET),
        ("502 of a proxy", html(502), BUDGET),
        ("503 with a problem", problem(503, "ServicoIndisponivel"), BUDGET),
        ("504", html(504), BUDGET),
        ("400 of a proxy", html(400), BUDGET),
        ("404 of a proxy", html(404), BUDGET),
        ("408", problem(408, "X"), BUDGET),
    ]
}
