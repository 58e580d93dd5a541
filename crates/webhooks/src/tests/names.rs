//! Tests the resolution of host names: each address is checked when the client connects, and look-ups are limited.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cais_ports::webhooks::{UrlRefusal, WebhookSender as _};
use rustls::RootCertStore;
use tokio::sync::Semaphore;

use super::server::{Act, Server, answer};
use super::{PATIENT, SHORT, development, outcome, send, webhook_url};
use crate::addresses::AddressRules;
use crate::resolver::{Lookup, MAX_LOOKUPS, MAX_WAITING, Resolver, SystemLookup, Unresolved};
use crate::sender::{Budgets, HttpSender, WebhookPolicy};

/// A resolver with scripted answers, one after the other. The last answer repeats.
#[derive(Default)]
struct ScriptedLookup {
    answers: Mutex<VecDeque<Vec<IpAddr>>>,
    asked: AtomicUsize,
    /// If set, each answer waits for a permit.
    gate: Option<Arc<Semaphore>>,
}

#[async_trait]
impl Lookup for ScriptedLookup {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        assert_ne!(name, "panics.example");
        if let Some(gate) = &self.gate {
            gate.acquire().await.unwrap().forget();
        }
        let mut answers = self.answers.lock().unwrap();
        let next = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        next.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn scripted(answers: &[&[&str]]) -> Arc<ScriptedLookup> {
    let address = |text: &&str| text.parse().unwrap();
    let answers = answers.iter().map(|answer| answer.iter().map(address).collect()).collect();
    Arc::new(ScriptedLookup { answers: Mutex::new(answers), ..ScriptedLookup::default() })
}

fn sender_with(lookup: &Arc<ScriptedLookup>, policy: WebhookPolicy, budgets: Budgets) -> HttpSender {
    let lookup: Arc<ScriptedLookup> = Arc::clone(lookup);
    HttpSender::with(policy, budgets, lookup, RootCertStore::empty()).unwrap()
}

async fn closing_server() -> Server {
    Server::always(Act::ReplyThenClose(answer("200 OK", "connection: close\r\n", ""))).await
}

fn named(server: &Server, name: &str) -> String {
    format!("http://{name}:{}/hook", server.port())
}

#[tokio::test]
async fn name_is_called_at_its_address() {
    let server = closing_server().await;
    let sender = sender_with(&scripted(&[&["127.0.0.1"]]), development(), PATIENT);
    assert_eq!(outcome(&send(&sender, &named(&server, "Hook.Example.")).await), "200 ok");
    let host = format!("hook.example:{}", server.port());
    assert_eq!(server.seen().first().map(|seen| seen.header("host").to_owned()), Some(host));
}

#[tokio::test]
async fn name_with_one_refused_address_is_refused() {
    let server = closing_server().await;
    let url = named(&server, "mixed.example");
    for answer in [
        &["127.0.0.1", "10.0.0.1"][..],
        &["10.0.0.1", "127.0.0.1"],
        &["8.8.8.8", "127.0.0.1", "::1"],
        &["127.0.0.1", "::ffff:169.254.169.254"],
        &["127.0.0.1", "64:ff9b::a00:1"],
        // The refused address comes after the addresses that would be tried.
        &[
            "127.0.0.1",
            "127.0.0.2",
            "127.0.0.3",
            "127.0.0.4",
            "127.0.0.5",
            "127.0.0.6",
            "127.0.0.7",
            "127.0.0.8",
            "10.0.0.1",
        ],
    ] {
        let sender = sender_with(&scripted(&[answer]), development(), PATIENT);
        assert_eq!(outcome(&send(&sender, &url).await), "- address_not_allowed", "{answer:?}");
        assert_eq!(sender.vet(&webhook_url(&url)).await, Err(UrlRefusal::NotPublic), "{answer:?}");
        assert_eq!(sender.permits(&webhook_url(&url)), Ok(()), "`permits` resolves no names");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn name_that_changes_after_the_check_is_refused() {
    let server = closing_server().await;
    let url = named(&server, "rebinding.example");
    let lookup = scripted(&[&["127.0.0.1"], &["127.0.0.1"], &["10.0.0.1"], &["127.0.0.1"], &["127.0.0.1", "::1"]]);
    let sender = sender_with(&lookup, development(), PATIENT);
    assert_eq!(sender.vet(&webhook_url(&url)).await, Ok(()));
    let mut outcomes = Vec::new();
    for _ in 0..4 {
        outcomes.push(outcome(&send(&sender, &url).await));
    }
    assert_eq!(outcomes, ["200 ok", "- address_not_allowed", "200 ok", "- address_not_allowed"]);
    // Each connection has its own look-up, and uses only an address of that look-up.
    assert_eq!((lookup.asked.load(Ordering::SeqCst), server.connections()), (5, 2));
}

#[tokio::test]
async fn unresolvable_name_is_registered_and_attempts_fail() {
    for lookup in [scripted(&[]), scripted(&[&[]])] {
        let sender = sender_with(&lookup, development(), PATIENT);
        assert_eq!(sender.vet(&webhook_url("https://later.example/")).await, Ok(()));
        assert_eq!(outcome(&send(&sender, "https://later.example/").await), "- name_not_resolved");
    }
}

#[tokio::test]
async fn hanging_name_server_delays_only_its_names() {
    let gate = Arc::new(Semaphore::new(0));
    let lookup = Arc::new(ScriptedLookup { gate: Some(Arc::clone(&gate)), ..ScriptedLookup::default() });
    lookup.answers.lock().unwrap().push_back(vec!["127.0.0.1".parse().unwrap()]);
    let hurried = Budgets { connect: SHORT, vetting: SHORT, ..PATIENT };
    let sender = sender_with(&lookup, development(), hurried);
    let server = closing_server().await;
    let url = named(&server, "hangs.example");
    assert_eq!(sender.vet(&webhook_url(&url)).await, Ok(()));
    assert_eq!(outcome(&send(&sender, &url).await), "- timed_out");
    assert_eq!(outcome(&send(&sender, &url).await), "- timed_out");
    assert_eq!(lookup.asked.load(Ordering::SeqCst), 1, "all three calls share one look-up");
    gate.add_permits(100);
    let patient = sender_with(&lookup, development(), PATIENT);
    assert_eq!(outcome(&send(&patient, &url).await), "200 ok");
}

#[tokio::test]
async fn concurrent_deliveries_share_one_look_up() {
    let gate = Arc::new(Semaphore::new(0));
    let lookup = Arc::new(ScriptedLookup { gate: Some(Arc::clone(&gate)), ..ScriptedLookup::default() });
    lookup.answers.lock().unwrap().push_back(vec!["127.0.0.1".parse().unwrap()]);
    let sender = Arc::new(sender_with(&lookup, development(), PATIENT));
    let server = closing_server().await;
    let url = named(&server, "busy.example");
    let sends: Vec<_> = (0..8)
        .map(|_| {
            let (sender, url) = (Arc::clone(&sender), url.clone());
            tokio::spawn(async move { outcome(&send(&sender, &url).await) })
        })
        .collect();
    // The runtime has one thread. While this test yields, all eight tasks run until they wait for the look-up.
    while lookup.asked.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    gate.add_permits(100);
    for sent in sends {
        assert_eq!(sent.await.unwrap(), "200 ok");
    }
    assert_eq!((lookup.asked.load(Ordering::SeqCst), server.seen().len()), (1, 8));
}

/// Waits until `names` look-ups have started, and checks that no further look-up starts.
async fn until_asked(lookup: &ScriptedLookup, names: usize) {
    for _ in 0..10_000 {
        if lookup.asked.load(Ordering::SeqCst) >= names {
            break;
        }
        tokio::task::yield_now().await;
    }
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(lookup.asked.load(Ordering::SeqCst), names);
}

fn hanging() -> (Arc<Semaphore>, Arc<ScriptedLookup>) {
    let gate = Arc::new(Semaphore::new(0));
    let lookup = Arc::new(ScriptedLookup { gate: Some(Arc::clone(&gate)), ..ScriptedLookup::default() });
    lookup.answers.lock().unwrap().push_back(vec!["127.0.0.1".parse().unwrap()]);
    (gate, lookup)
}

#[tokio::test]
async fn hanging_registrations_do_not_delay_deliveries() {
    let (gate, lookup) = hanging();
    let sender = Arc::new(sender_with(&lookup, development(), PATIENT));
    let vet = |name: usize| {
        let sender = Arc::clone(&sender);
        tokio::spawn(async move { sender.vet(&webhook_url(&format!("http://hangs-{name}.example/"))).await })
    };
    let mut under_way: Vec<_> = (0..16).map(&vet).collect();
    until_asked(&lookup, 16).await;
    // Fifteen callers stop waiting, but their look-ups continue.
    for vetting in under_way.drain(..15) {
        vetting.abort();
        assert!(vetting.await.unwrap_err().is_cancelled());
    }
    for name in 16..300 {
        assert_eq!(vet(name).await.unwrap(), Ok(()), "accepted without a look-up");
    }
    until_asked(&lookup, 16).await;

    let server = closing_server().await;
    let url = named(&server, "hook.example");
    let sending = {
        let sender = Arc::clone(&sender);
        tokio::spawn(async move { outcome(&send(&sender, &url).await) })
    };
    until_asked(&lookup, 17).await;
    gate.add_permits(17);
    assert_eq!(sending.await.unwrap(), "200 ok");
    for vetting in under_way {
        assert_eq!(vetting.await.unwrap(), Ok(()));
    }
    gate.add_permits(1);
    assert_eq!(vet(300).await.unwrap(), Ok(()));
    until_asked(&lookup, 18).await;
}

#[tokio::test]
async fn waiting_look_ups_are_limited() {
    let (gate, lookup) = hanging();
    let resolver = Resolver::new(lookup.clone(), AddressRules::new(development().allow_addresses));
    let ask = async |name: usize| {
        let name = format!("hangs-{name}.example");
        tokio::time::timeout(Duration::ZERO, resolver.resolve(&name)).await
    };
    let most = MAX_LOOKUPS + MAX_WAITING;
    for name in 0..most {
        assert!(ask(name).await.is_err(), "{name} waits");
    }
    until_asked(&lookup, MAX_LOOKUPS).await;
    assert_eq!(ask(most).await, Ok(Err(Unresolved::NotFound)));
    assert!(ask(0).await.is_err(), "a running look-up is joined");
    gate.add_permits(most);
    until_asked(&lookup, most).await;
    gate.add_permits(1);
    assert_eq!(resolver.resolve("later.example").await.map(|found| found.len()), Ok(1));
}

#[tokio::test]
async fn panicked_look_up_is_retried() {
    let lookup = scripted(&[&["127.0.0.1"]]);
    let sender = sender_with(&lookup, development(), PATIENT);
    for asked in 1..=2 {
        assert_eq!(outcome(&send(&sender, "http://panics.example/").await), "- name_not_resolved");
        assert_eq!(lookup.asked.load(Ordering::SeqCst), asked);
    }
}

#[tokio::test]
async fn names_are_resolved_by_the_system() {
    let found = SystemLookup.lookup("localhost").await.unwrap();
    assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback), "{found:?}");
}

#[tokio::test]
async fn loopback_names_are_not_looked_up() {
    let server = closing_server().await;
    // The test checks that this look-up is never made.
    let lookup = scripted(&[&["8.8.8.8"]]);
    let sender = sender_with(&lookup, development(), PATIENT);
    for name in ["localhost", "LOCALHOST.", "app.localhost"] {
        let url = named(&server, name);
        assert_eq!(sender.vet(&webhook_url(&url)).await, Ok(()));
        assert_eq!(outcome(&send(&sender, &url).await), "200 ok", "{name}");
    }
    let strict = sender_with(&lookup, WebhookPolicy { allow_insecure: true, ..WebhookPolicy::default() }, PATIENT);
    let url = named(&server, "localhost");
    assert_eq!(strict.vet(&webhook_url(&url)).await, Err(UrlRefusal::NotPublic));
    assert_eq!(outcome(&send(&strict, &url).await), "- address_not_allowed");
    assert_eq!((lookup.asked.load(Ordering::SeqCst), server.connections()), (0, 3));
}

#[tokio::test]
async fn literal_addresses_are_checked() {
    let server = closing_server().await;
    let lookup = scripted(&[&["8.8.8.8"]]);
    let strict = sender_with(&lookup, WebhookPolicy { allow_insecure: true, ..WebhookPolicy::default() }, PATIENT);
    for host in ["127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0"] {
        let url = named(&server, host);
        assert_eq!(outcome(&send(&strict, &url).await), "- address_not_allowed", "{host}");
        assert_eq!(strict.permits(&webhook_url(&url)), Err(UrlRefusal::NotPublic), "{host}");
        assert_eq!(strict.vet(&webhook_url(&url)).await, Err(UrlRefusal::NotPublic), "{host}");
    }
    let secure = WebhookPolicy { allow_insecure: false, ..development() };
    let url = named(&server, "127.0.0.1");
    let secure = sender_with(&lookup, secure, PATIENT);
    assert_eq!(outcome(&send(&secure, &url).await), "- address_not_allowed", "every attempt checks the URL again");
    assert_eq!(secure.permits(&webhook_url(&url)), Err(UrlRefusal::Scheme));
    assert_eq!((lookup.asked.load(Ordering::SeqCst), server.connections()), (0, 0));
}
