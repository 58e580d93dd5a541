//! The rate window of API keys, counted by each node for itself or in Redis for all nodes together.

mod shared;
mod window;

pub use shared::{ANSWERS_WITHIN, InvalidRedisUrl, RedisUrl, SHARED, SharedWindows};
pub use window::MinuteWindows;
