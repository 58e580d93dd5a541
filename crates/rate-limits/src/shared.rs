//! A rate window shared by all nodes, counted in Redis.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::merchant::api_key::KeyPrefix;
use cais_ports::{RateDecision, RateLimits, alerts};
use jiff::Timestamp;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError};
use tokio::time::{sleep, timeout};

use crate::MinuteWindows;

/// The gauge of the link to Redis: 1 while this node counts in Redis, otherwise 0.
pub const SHARED: &str = "cais_rate_limits_shared";
/// The longest time that a request waits for Redis. After a timeout, requests do not wait for Redis until it is
/// connected again.
pub const ANSWERS_WITHIN: Duration = Duration::from_millis(100);
/// The time limit of the Redis client for a new connection. [`connect`] waits at most twice as long. Requests do not
/// wait for new connections.
const CONNECTS_WITHIN: Duration = Duration::from_secs(1);
/// The pause before the next attempt to connect. If Redis answers the PING of each new connection but nothing else,
/// requests wait for it at most once per pause, for [`ANSWERS_WITHIN`].
const PAUSE: Duration = Duration::from_secs(1);
/// The seconds after which Redis removes a window: its minute, and one more for clock differences.
const EXPIRY_S: u64 = 120;

/// The address of a Redis server, possibly with a password.
#[derive(Clone)]
pub struct RedisUrl(Client);

impl RedisUrl {
    /// Parses `redis://[[user]:password@]host[:port][/database]`, or `rediss://…` for TLS.
    ///
    /// # Errors
    /// [`InvalidRedisUrl`], which does not repeat the text.
    pub fn parse(text: &str) -> Result<Self, InvalidRedisUrl> {
        Client::open(text).map(Self).map_err(|_| InvalidRedisUrl)
    }

    /// Connects once, and waits for the answer to a PING.
    ///
    /// # Errors
    /// The reason, if Redis cannot be reached or does not answer within the time limit.
    pub async fn check(&self) -> Result<(), String> {
        connect(self, CONNECTS_WITHIN).await.map(|_connection| ())
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RedisUrl(***)")
    }
}

/// The error for a text that is not the address of a Redis server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a URL such as redis://127.0.0.1:6379 or rediss://:password@redis.example.com")]
pub struct InvalidRedisUrl;

/// Windows of one minute per API key, shared by all nodes with the same Redis. While Redis cannot be reached, each node
/// counts only its own requests.
///
/// Each node also counts its own requests while Redis is connected. A request that this count refuses is not counted in
/// Redis. So even if Redis loses its data, each node allows at most `limit` requests per window.
pub struct SharedWindows {
    local: MinuteWindows,
    link: Arc<Link>,
    answers_within: Duration,
}

impl SharedWindows {
    /// Creates windows of `limit` requests per API key. A request waits for Redis at most `answers_within`. The
    /// function returns without waiting for Redis, and requires a tokio runtime.
    #[must_use]
    pub fn start(url: RedisUrl, limit: u32, answers_within: Duration) -> Self {
        metrics::gauge!(SHARED).set(0.0);
        let link = Arc::new(Link { connection: Mutex::new(None), lost: tokio::sync::Notify::new() });
        tokio::spawn(keep_connected(url, answers_within, Arc::downgrade(&link)));
        Self { local: MinuteWindows::new(limit), link, answers_within }
    }

    /// Returns whether this node counts in Redis now.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.link.current().is_some()
    }
}

#[async_trait]
impl RateLimits for SharedWindows {
    async fn count(&self, key: &KeyPrefix, now: Timestamp) -> RateDecision {
        let local = self.local.count_now(key, now);
        let Some(connection) = self.link.current().filter(|_| local.allowed) else { return local };
        match timeout(self.answers_within, increment(connection, key, local.reset_s)).await {
            Ok(Ok(counted)) => {
                let left = u64::from(local.limit).checked_sub(counted);
                let remaining = left.map_or(0, |left| u32::try_from(left).unwrap_or(u32::MAX));
                RateDecision { allowed: left.is_some(), remaining: remaining.min(local.remaining), ..local }
            }
            Ok(Err(error)) => {
                self.link.lose(&error.to_string());
                local
            }
            Err(_) => {
                self.link.lose("no answer within the time limit");
                local
            }
        }
    }
}

/// Counts one request in the window that ends at `reset_s`, in one round trip to Redis. Returns the number of requests
/// in the window so far.
async fn increment(mut connection: MultiplexedConnection, key: &KeyPrefix, reset_s: i64) -> Result<u64, RedisError> {
    let window = format!("cais:rate:{}:{reset_s}", key.as_str());
    let mut commands = redis::pipe();
    // The counter is created with an expiry before it is increased. If the increment created the counter, a connection
    // lost at that moment would leave a counter without expiry.
    commands.cmd("SET").arg(&window).arg(0).arg("EX").arg(EXPIRY_S).arg("NX").ignore();
    commands.cmd("INCR").arg(&window);
    let (counted,): (u64,) = commands.query_async(&mut connection).await?;
    Ok(counted)
}

/// The connection to Redis, which is absent while Redis cannot be reached.
struct Link {
    connection: Mutex<Option<MultiplexedConnection>>,
    lost: tokio::sync::Notify,
}

impl Link {
    fn current(&self) -> Option<MultiplexedConnection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, connection: MultiplexedConnection) {
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = Some(connection);
        metrics::gauge!(SHARED).set(1.0);
    }

    /// Drops the connection, so that this node counts only its own requests. Several requests may lose the same
    /// connection; only the first one logs the loss.
    fn lose(&self, cause: &str) {
        if self.connection.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
            metrics::gauge!(SHARED).set(0.0);
            warn(cause);
            self.lost.notify_one();
        }
    }
}

fn warn(cause: &str) {
    tracing::warn!(
        alert = alerts::RATE_LIMITS_NOT_SHARED,
        cause,
        "Redis cannot be reached; this node counts its own requests only"
    );
}

/// Connects, and reconnects after each loss. Ends with the first attempt to connect after the windows were dropped.
async fn keep_connected(url: RedisUrl, answers_within: Duration, link: Weak<Link>) {
    let mut was_reported = false;
    loop {
        let connected = connect(&url, answers_within).await;
        let Some(link) = link.upgrade() else { return };
        match connected {
            Ok(connection) => {
                link.set(connection);
                tracing::info!("Redis is connected; all nodes share one rate window");
                was_reported = true;
                link.lost.notified().await;
            }
            Err(cause) if !was_reported => {
                warn(&cause);
                was_reported = true;
            }
            Err(_) => {}
        }
        drop(link);
        sleep(PAUSE).await;
    }
}

/// Returns a connection that has answered a PING. Each command on the connection fails after `answers_within`.
async fn connect(url: &RedisUrl, answers_within: Duration) -> Result<MultiplexedConnection, String> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECTS_WITHIN))
        .set_response_timeout(Some(answers_within));
    let connecting = url.0.get_multiplexed_async_connection_with_config(&config);
    let connected = timeout(CONNECTS_WITHIN * 2, connecting).await.map_err(|_| "no connection after 2 s".to_owned())?;
    let mut connection = connected.map_err(|error| error.to_string())?;
    redis::cmd("PING").query_async::<()>(&mut connection).await.map_err(|error| error.to_string())?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redis_url_is_validated_and_hidden() {
        for (text, expected) in [
            ("redis://127.0.0.1:6379", true),
            ("rediss://:secret@redis.example.com:6380/2", true),
            ("http://127.0.0.1", false),
            ("127.0.0.1:6379", false),
            ("", false),
        ] {
            let parsed = RedisUrl::parse(text);
            assert_eq!(parsed.is_ok(), expected, "{text}");
            assert!(!format!("{parsed:?}").contains("secret"), "{text}");
        }
    }
}
