//! Resolves a host name and checks all its addresses: when a merchant registers the name, and when the HTTP client
//! connects to it.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::{Semaphore, watch};

use crate::addresses::AddressRules;
use crate::vetting::{LOOPBACK, is_own_name};

/// The largest number of concurrent look-ups for deliveries. Each look-up occupies one of the runtime's 512 threads for
/// blocking calls. If the name server is slow, this may last half a minute, even if no caller waits any more.
pub(crate) const MAX_LOOKUPS: usize = 128;
/// The largest number of look-ups for deliveries that wait until another one ends. Further names do not resolve.
pub(crate) const MAX_WAITING: usize = 512;
/// The largest number of concurrent look-ups for registrations. The limit is separate from that of deliveries, because
/// merchants may register any number of names.
const MAX_VETTED: usize = 16;
/// The largest number of addresses of a name to which the client tries to connect. All addresses are checked.
const MAX_ADDRESSES: usize = 8;

/// A source of the addresses of names.
#[async_trait]
pub(crate) trait Lookup: Send + Sync + 'static {
    /// Returns all addresses of the name.
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's resolver, with its hosts file.
pub(crate) struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// The reason a name cannot be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unresolved {
    /// An address of the name is not permitted. The other addresses are not tried, because a mixed answer indicates an
    /// attack.
    #[error("the name has an address that may not be called")]
    NotAllowed,
    /// The name has no address, its look-up failed, or too many look-ups are waiting.
    #[error("the name does not resolve")]
    NotFound,
}

/// The result of a look-up; `None` while it runs.
type PendingResult = watch::Receiver<Option<Arc<[IpAddr]>>>;

/// A resolver that refuses names with addresses that are not permitted.
///
/// Concurrent look-ups of a name share one result. So a name whose servers do not answer occupies only one thread,
/// however many deliveries need the name. Results are not cached; connections are kept open instead.
#[derive(Clone)]
pub(crate) struct Resolver(Arc<Shared>);

struct Shared {
    lookup: Arc<dyn Lookup>,
    rules: AddressRules,
    under_way: Mutex<HashMap<String, PendingResult>>,
    for_deliveries: LookupLimits,
    for_vetting: LookupLimits,
}

/// The limits of concurrent and of waiting look-ups.
struct LookupLimits {
    running: Semaphore,
    running_or_waiting: Arc<Semaphore>,
}

impl LookupLimits {
    fn new(running: usize, waiting: usize) -> Self {
        let all = running.saturating_add(waiting);
        Self { running: Semaphore::new(running), running_or_waiting: Arc::new(Semaphore::new(all)) }
    }
}

/// The purpose of a look-up.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Delivery,
    Vetting,
}

impl Shared {
    const fn limits(&self, purpose: Purpose) -> &LookupLimits {
        match purpose {
            Purpose::Delivery => &self.for_deliveries,
            Purpose::Vetting => &self.for_vetting,
        }
    }
}

impl Resolver {
    pub(crate) fn new(lookup: Arc<dyn Lookup>, rules: AddressRules) -> Self {
        let under_way = Mutex::new(HashMap::new());
        let for_deliveries = LookupLimits::new(MAX_LOOKUPS, MAX_WAITING);
        let for_vetting = LookupLimits::new(MAX_VETTED, 0);
        Self(Arc::new(Shared { lookup, rules, under_way, for_deliveries, for_vetting }))
    }

    /// Returns at most [`MAX_ADDRESSES`] addresses of a name, if all its addresses are permitted. Has no time limit of
    /// its own.
    ///
    /// # Errors
    /// [`Unresolved`].
    pub(crate) async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, Unresolved> {
        self.find(name, Purpose::Delivery).await
    }

    /// Checks a name that a merchant registers. A new look-up uses a slot for registrations, never one for deliveries.
    /// If no such slot is free, the result is [`Unresolved::NotFound`]. If a look-up of the same name is already under
    /// way, the check joins that look-up. The joined look-up may be for a delivery and may still wait for a slot.
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
        let mut answer = self.start_or_join(&name, purpose).ok_or(Unresolved::NotFound)?;
        let found = answer.wait_for(Option::is_some).await.ok().and_then(|found| found.clone());
        let found = found.filter(|found| !found.is_empty()).ok_or(Unresolved::NotFound)?;
        if found.iter().all(|address| rules.permits(*address)) {
            Ok(found.iter().copied().take(MAX_ADDRESSES).collect())
        } else {
            Err(Unresolved::NotAllowed)
        }
    }

    /// Starts or joins a look-up; `None` if too many are waiting.
    fn start_or_join(&self, name: &str, purpose: Purpose) -> Option<PendingResult> {
        let mut under_way = self.0.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        // If the task of a look-up panicked or its runtime ended, the result never arrives. Then `has_changed` returns
        // an error, and another look-up is started.
        if let Some(answer) = under_way.get(name).filter(|answer| answer.has_changed().is_ok()) {
            return Some(answer.clone());
        }
        // The task owns this permit. So the permit is released when the look-up ends and its thread is free, not when
        // the caller stops waiting.
        let admitted = Arc::clone(&self.0.limits(purpose).running_or_waiting).try_acquire_owned().ok()?;
        let (result, answer) = watch::channel(None);
        under_way.insert(name.to_owned(), answer.clone());
        let (shared, name) = (Arc::clone(&self.0), name.to_owned());
        tokio::spawn(async move {
            let permit = shared.limits(purpose).running.acquire().await;
            let found = shared.lookup.lookup(&name).await.unwrap_or_default();
            drop((permit, admitted));
            shared.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
            result.send_replace(Some(found.into()));
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
