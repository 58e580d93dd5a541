//! The rate window of API keys, counted per node or in Redis for all nodes.

mod shared;
mod window;

pub use shared::{ANSWERS_WITHIN, InvalidRedisUrl, RedisUrl, SHARED, SharedWindows};
pub use window::MinuteWindows;
