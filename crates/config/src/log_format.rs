//! The format of log lines.

/// Format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// Lines for people.
    Text,
    /// A JSON object per line.
    Json,
}

impl LogFormat {
    pub(crate) fn parse(name: &str) -> Result<Self, &'static str> {
        match name {
            "auto" => Ok(Self::Auto),
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err("must be auto, text or json"),
        }
    }
}
