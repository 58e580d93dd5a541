//! Deliberate faults of the institution, its API of Woovi, the crypto processor and the PTAX service: a system is down, slow or failing, or
//! loses its answers.

mod inject;
mod listener_switch;

use std::{
    sync::{Mutex, PoisonError, RwLock},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{crypto, ptax, woovi};

pub use inject::{Connection, close_connection, inject};
pub use listener_switch::ListenerSwitch;

/// The delay of `slow` and `late_reply` if the tester sets none.
pub const DEFAULT_LATENCY: Duration = Duration::from_secs(5);

/// The longest delay that the tester can set, and the time before `hang` closes a connection. The service waits less for any answer.
pub const MAX_LATENCY: Duration = Duration::from_mins(1);

/// The fault of requests outside the control interface. The work of a request is its effect on the simulator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultMode {
    /// No fault: requests are served normally.
    #[default]
    Ok,
    /// If [`crate::SandboxConfig::refuses_when_down`] is set and the fault concerns all requests of the institution, new connections are
    /// refused. Every request that still reaches the server is answered 429, and its connection is closed. No work is done.
    Down,
    /// The work and the answer are delayed.
    Slow,
    /// The work is done, then the connection is closed without an answer. Reads are answered normally.
    DropReply,
    /// 500, in the form of the API that was called; no work is done.
    Error,
    /// The work is done at once and the answer is delayed, so that a callback may arrive before the answer. Reads are answered normally.
    LateReply,
    /// Requests are served normally, but every accepted callback is sent again.
    DoubleCallback,
    /// The work is done, but the answer is 500. Reads are answered normally.
    ErrorAfter,
    /// No answer: the connection is closed after [`MAX_LATENCY`]. No work is done.
    Hang,
    /// 200 with an HTML page instead of JSON; no work is done.
    Html,
    /// The work is done, but the body of the answer ends in the middle.
    Truncated,
    /// 429 with `Retry-After`; no work is done.
    RateLimited,
}

/// A fault mode with its delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The mode.
    pub mode: FaultMode,
    /// The delay of `slow` and `late_reply`, at most [`MAX_LATENCY`]. Other modes ignore it.
    pub latency: Duration,
}

impl Default for Fault {
    fn default() -> Self {
        Self::from(FaultMode::Ok)
    }
}

impl From<FaultMode> for Fault {
    fn from(mode: FaultMode) -> Self {
        Self { mode, latency: DEFAULT_LATENCY }
    }
}

/// The system whose requests have a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultTarget {
    /// The institution with Pix, without its API of Woovi.
    Institution,
    /// The crypto processor.
    Crypto,
    /// The PTAX service.
    Ptax,
    /// The institution's API of Woovi.
    Woovi,
}

impl FaultTarget {
    /// Returns the system that serves a path.
    #[must_use]
    pub fn of(path: &str) -> Self {
        if path.starts_with(crypto::http::PATH) {
            Self::Crypto
        } else if path.starts_with(ptax::PATH) {
            Self::Ptax
        } else if path.starts_with(woovi::PATH) {
            Self::Woovi
        } else {
            Self::Institution
        }
    }
}

/// A fault of one system. With `path`, only the requests whose path contains this text have the fault.
#[derive(Clone, Debug, Default)]
struct Scoped {
    fault: Fault,
    path: Option<Box<str>>,
}

/// The current faults, which do not survive a restart.
#[derive(Debug, Default)]
pub struct Faults {
    institution: RwLock<Scoped>,
    crypto: RwLock<Scoped>,
    ptax: RwLock<Scoped>,
    woovi: RwLock<Scoped>,
    /// The switch with which `down` closes the listener; `None` if connections are not refused, or the server does not run.
    listener: Mutex<Option<ListenerSwitch>>,
}

impl Faults {
    fn slot(&self, target: FaultTarget) -> &RwLock<Scoped> {
        match target {
            FaultTarget::Institution => &self.institution,
            FaultTarget::Crypto => &self.crypto,
            FaultTarget::Ptax => &self.ptax,
            FaultTarget::Woovi => &self.woovi,
        }
    }

    /// Returns the current fault mode of a system, even if only some paths have the fault.
    #[must_use]
    pub fn mode_of(&self, target: FaultTarget) -> FaultMode {
        self.slot(target).read().unwrap_or_else(PoisonError::into_inner).fault.mode
    }

    /// Returns the fault that a request with this path has now.
    #[must_use]
    pub fn find(&self, path: &str) -> Fault {
        let scoped = self.slot(FaultTarget::of(path)).read().unwrap_or_else(PoisonError::into_inner);
        let applies = scoped.path.as_deref().is_none_or(|part| path.contains(part));
        if applies { scoped.fault } else { Fault::default() }
    }

    /// Replaces the fault of a system. With `part`, only requests whose path contains this text have the new fault. Requests that the
    /// server has already begun to handle keep the old fault.
    pub fn set(&self, target: FaultTarget, fault: Fault, part: Option<&str>) {
        let closes = |fault: &Scoped| fault.fault.mode == FaultMode::Down && fault.path.is_none();
        let scoped = Scoped { fault, path: part.map(Into::into) };
        let mut current = self.slot(target).write().unwrap_or_else(PoisonError::into_inner);
        let (was_open, is_open) = (!closes(&current), !closes(&scoped));
        *current = scoped;
        if target == FaultTarget::Institution
            && was_open != is_open
            && let Some(listener) = &*self.listener.lock().unwrap_or_else(PoisonError::into_inner)
        {
            listener.set(is_open);
        }
    }

    /// Stores the switch with which `down` makes the listener refuse connections.
    pub fn refuse_when_down(&self, listener: ListenerSwitch) {
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(listener);
    }

    /// Drops the switch after the server has ended. The switch holds a handle on the listener, which would keep the port open.
    pub fn drop_listener(&self) {
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
