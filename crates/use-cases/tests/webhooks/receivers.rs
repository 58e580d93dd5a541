//! Receivers of webhooks. A receiver responds, hangs until the test releases it, or panics. All calls are recorded.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use cais_domain::ids::EventId;
use cais_domain::merchant::webhook::WebhookUrl;
use cais_ports::{AttemptError, Outgoing, Sent, SigningSecret, UrlRefusal, WebhookSender};
use jiff::Timestamp;
use tokio::sync::oneshot;

/// The response of a receiver to a call.
#[derive(Debug, Clone)]
pub enum Answer {
    /// Responds at once.
    Now(Sent),
    /// Responds when the test releases the call.
    Held,
    /// Panics during the call.
    Broken,
}

/// A call to a receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub url: String,
    pub id: EventId,
    pub at: Timestamp,
    pub secrets: Vec<SigningSecret>,
    pub body: Vec<u8>,
}

#[derive(Debug, Default)]
struct Book {
    /// The next responses by address. They come before the usual response.
    next: HashMap<String, VecDeque<Answer>>,
    usual: HashMap<String, Answer>,
    calls: Vec<Call>,
    held: HashMap<String, Vec<oneshot::Sender<Sent>>>,
    in_flight: HashMap<String, usize>,
    most: HashMap<String, usize>,
    most_of_all: usize,
    refused: HashMap<String, UrlRefusal>,
    vetted: Vec<String>,
}

/// All receivers of a test.
#[derive(Debug, Default)]
pub struct Receivers {
    book: Mutex<Book>,
}

impl Receivers {
    /// Sets the usual response of the receiver.
    pub fn set(&self, url: &WebhookUrl, answer: Answer) {
        self.book().usual.insert(url.to_string(), answer);
    }

    /// Sets the next responses of the receiver, in order.
    pub fn script(&self, url: &WebhookUrl, answers: impl IntoIterator<Item = Answer>) {
        self.book().next.entry(url.to_string()).or_default().extend(answers);
    }

    /// Responds to every held call of the receiver. Returns their number.
    pub fn release(&self, url: &WebhookUrl, sent: &Sent) -> usize {
        let held = self.book().held.remove(url.as_str()).unwrap_or_default();
        held.into_iter().filter_map(|call| call.send(sent.clone()).ok()).count()
    }

    /// Returns the number of held calls of the receiver.
    pub fn held(&self, url: &WebhookUrl) -> usize {
        self.book().held.get(url.as_str()).map_or(0, Vec::len)
    }

    /// Makes the address forbidden.
    pub fn refuse(&self, url: &WebhookUrl, refusal: UrlRefusal) {
        self.book().refused.insert(url.to_string(), refusal);
    }

    /// Returns every call so far, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.book().calls.clone()
    }

    /// Returns every call of the receiver so far, in order.
    pub fn calls_to(&self, url: &WebhookUrl) -> Vec<Call> {
        self.calls().into_iter().filter(|call| call.url == url.as_str()).collect()
    }

    /// Returns the largest number of concurrent calls of the receiver.
    pub fn most_at_once(&self, url: &WebhookUrl) -> usize {
        self.book().most.get(url.as_str()).copied().unwrap_or_default()
    }

    /// Returns the largest number of concurrent calls.
    pub fn most_of_all(&self) -> usize {
        self.book().most_of_all
    }

    /// Returns every address that was checked before its registration, in order.
    pub fn vetted(&self) -> Vec<String> {
        self.book().vetted.clone()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap()
    }

    /// Records the call and returns its response.
    fn call(&self, outgoing: &Outgoing<'_>) -> (Answer, Option<oneshot::Receiver<Sent>>) {
        let url = outgoing.url.to_string();
        let mut book = self.book();
        book.calls.push(Call {
            url: url.clone(),
            id: outgoing.id,
            at: outgoing.at,
            secrets: outgoing.secrets.to_vec(),
            body: outgoing.body.to_vec(),
        });
        let now = book.in_flight.entry(url.clone()).or_default();
        *now += 1;
        let now = *now;
        let all = book.in_flight.values().sum();
        let most = book.most.entry(url.clone()).or_default();
        *most = now.max(*most);
        book.most_of_all = book.most_of_all.max(all);
        let scripted = book.next.get_mut(&url).and_then(VecDeque::pop_front);
        let answer = scripted.or_else(|| book.usual.get(&url).cloned()).unwrap_or_else(|| Answer::Now(taken()));
        let wait = matches!(answer, Answer::Held).then(|| {
            let (sender, receiver) = oneshot::channel();
            book.held.entry(url).or_default().push(sender);
            receiver
        });
        (answer, wait)
    }
}

/// Decreases the count of concurrent calls when dropped.
struct InFlightCall<'a>(&'a Receivers, String);

impl Drop for InFlightCall<'_> {
    fn drop(&mut self) {
        *self.0.book().in_flight.get_mut(&self.1).unwrap() -= 1;
    }
}

#[async_trait]
impl WebhookSender for Receivers {
    async fn vet(&self, url: &WebhookUrl) -> Result<(), UrlRefusal> {
        self.book().vetted.push(url.to_string());
        self.permits(url)
    }

    fn permits(&self, url: &WebhookUrl) -> Result<(), UrlRefusal> {
        self.book().refused.get(url.as_str()).map_or(Ok(()), |refusal| Err(*refusal))
    }

    async fn send<'a>(&self, outgoing: Outgoing<'a>) -> Sent {
        let (answer, wait) = self.call(&outgoing);
        let _call = InFlightCall(self, outgoing.url.to_string());
        tokio::task::yield_now().await;
        match (answer, wait) {
            (Answer::Now(sent), _) => sent,
            (Answer::Held, Some(wait)) => wait.await.unwrap(),
            (Answer::Held | Answer::Broken, _) => unreachable!("the test breaks it"),
        }
    }
}

/// Returns the outcome of an accepted call.
pub fn taken() -> Sent {
    Sent {
        status_code: Some(200),
        error: None,
        retry_after: None,
        response_body: Some("ok".to_owned()),
        duration_ms: 3,
    }
}

/// Returns the outcome of a refused call.
pub fn refused(status: u16) -> Sent {
    Sent { status_code: Some(status), error: Some(AttemptError::Refused), ..taken() }
}
