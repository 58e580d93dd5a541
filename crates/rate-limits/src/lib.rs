//! How often a key may call: a fixed window of one minute per key, counted exactly within one process.

mod window;

pub use window::MinuteWindows;
