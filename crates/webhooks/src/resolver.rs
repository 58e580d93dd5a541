//! Between the client's connections and the names that they are made to: an address is judged when it is about to be called.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::{Semaphore, watch};

use crate::addresses::AddressRules;
use crate::vetting::{LOOPBACK, is_own_name};

/// How many names are asked for at once for deliveries. The system's resolver takes a thread of the runtime for each, which it has 512
/// of, and name servers may keep it for half a minute, whether or not anybody still waits.
pub(crate) const MAX_LOOKUPS: usize = 128;
/// How many more names may wait for that; one beyond them does not resolve.
pub(crate) const MAX_WAITING: usize = 512;
/// How many names are asked for at once for merchants who register them: apart from those of deliveries, because anybody with a key may
/// name as many as they like.
const MAX_VETTED: usize = 16;
/// How many addresses of a name are tried; all of them are judged.
const MAX_ADDRESSES: usize = 8;

/// Asks for the addresses of a name.
#[async_trait]
pub(crate) trait Lookup: Send + Sync + 'static {
    /// Every address of the name.
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's own resolver, with its hosts file.
pub(crate) struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// Why a name leads nowhere that may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unresolved {
    /// One of its addresses may not be called. The others are not tried: a mixed answer is an attempt to get in.
    #[error("the name has an address that may not be called")]
    NotAllowed,
    /// It has no address, or too many others are asked for.
    #[error("the name does not resolve")]
    NotFound,
}

/// What became of asking for a name; `None` while it is asked.
type Answer = watch::Receiver<Option<Arc<[IpAddr]>>>;

/// Resolves names, and refuses those that lead where nobody may be called.
///
/// Whoever asks for a name that is being asked for already waits for the same answer, so a name whose servers hang holds one thread,
/// however many deliveries want it. Nothing is remembered: connections are kept instead.
#[derive(Clone)]
pub(crate) struct Resolver(Arc<Shared>);

struct Shared {
    lookup: Arc<dyn Lookup>,
    rules: AddressRules,
    under_way: Mutex<HashMap<String, Answer>>,
    for_deliveries: Places,
    for_vetting: Places,
}

/// How many names may be asked for at once, and how many may wait for that.
struct Places {
    asking: Semaphore,
    asking_or_waiting: Arc<Semaphore>,
}

impl Places {
    fn new(asking: usize, waiting: usize) -> Self {
        let all = asking.saturating_add(waiting);
        Self { asking: Semaphore::new(asking), asking_or_waiting: Arc::new(Semaphore::new(all)) }
    }
}

/// What a name is asked for.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Delivery,
    Vetting,
}

impl Shared {
    const fn places(&self, purpose: Purpose) -> &Places {
        match purpose {
            Purpose::Delivery => &self.for_deliveries,
            Purpose::Vetting => &self.for_vetting,
        }
    }
}

impl Resolver {
    pub(crate) fn new(lookup: Arc<dyn Lookup>, rules: AddressRules) -> Self {
        let under_way = Mutex::new(HashMap::new());
        let for_deliveries = Places::new(MAX_LOOKUPS, MAX_WAITING);
        let for_vetting = Places::new(MAX_VETTED, 0);
        Self(Arc::new(Shared { lookup, rules, under_way, for_deliveries, for_vetting }))
    }

    /// The addresses of a name, all of which may be called. It takes as long as it takes: the caller has the deadline. Where too many
    /// names wait already, it is not asked for, and does not resolve.
    ///
    /// # Errors
    /// [`Unresolved`].
    pub(crate) async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, Unresolved> {
        self.find(name, Purpose::Delivery).await
    }

    /// The same for a name that a merchant registers. It never takes a place of a delivery's, and never waits for one of its own.
    ///
    /// # Errors
    /// [`Unresolved`].
    pub(crate) async fn vet(&self, name: &str) -> Result<(), Unresolved> {
        self.find(name, Purpose::Vetting).await.map(drop)
    }

    async fn find(&self, name: &str, purpose: Purpose) -> Result<Vec<IpAddr>, Unresolved> {
        let rules = &self.0.rules;
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        if is_own_name(&name) {
            let own: Vec<_> = LOOPBACK.into_iter().filter(|address| rules.permits(*address)).collect();
            return if own.is_empty() { Err(Unresolved::NotAllowed) } else { Ok(own) };
        }
        let mut answer = self.ask(&name, purpose).ok_or(Unresolved::NotFound)?;
        let found = answer.wait_for(Option::is_some).await.ok().and_then(|found| found.clone());
        let found = found.filter(|found| !found.is_empty()).ok_or(Unresolved::NotFound)?;
        if found.iter().all(|address| rules.permits(*address)) {
            Ok(found.iter().copied().take(MAX_ADDRESSES).collect())
        } else {
            Err(Unresolved::NotAllowed)
        }
    }

    /// The answer to come; `None` where nobody may ask for one more name.
    fn ask(&self, name: &str, purpose: Purpose) -> Option<Answer> {
        let mut under_way = self.0.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        // An answer whose sender is gone without a word, because its runtime ended, will never come.
        if let Some(answer) = under_way.get(name).filter(|answer| answer.has_changed().is_ok()) {
            return Some(answer.clone());
        }
        // It is given back when the name server is done, not when the caller gives up: a thread is taken until then.
        let admitted = Arc::clone(&self.0.places(purpose).asking_or_waiting).try_acquire_owned().ok()?;
        let (teller, answer) = watch::channel(None);
        under_way.insert(name.to_owned(), answer.clone());
        let (shared, name) = (Arc::clone(&self.0), name.to_owned());
        tokio::spawn(async move {
            let place = shared.places(purpose).asking.acquire().await;
            let found = shared.lookup.lookup(&name).await.unwrap_or_default();
            drop((place, admitted));
            shared.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
            teller.send_replace(Some(found.into()));
        });
        Some(answer)
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            let found = resolver.resolve(name.as_str()).await?;
            let addresses = found.into_iter().map(|address| SocketAddr::new(address, 0));
            let addresses: Addrs = Box::new(addresses);
            Ok(addresses)
        })
    }
}
