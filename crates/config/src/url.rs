//! Checks that the URLs of a configuration have a scheme and a host, and no user, query or fragment.

use std::net::IpAddr;

/// Returns a base URL without the slash at its end.
///
/// # Errors
/// The rule that the text breaks.
pub fn base(text: &str) -> Result<String, &'static str> {
    const RULE: &str = "must be an http or https URL without user, query or fragment";
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).ok_or(RULE)?;
    let authority = rest.split('/').next().unwrap_or_default();
    let plain = |character: char| {
        character.is_ascii_graphic() && !matches!(character, '@' | '?' | '#' | '\\' | '"' | '<' | '>')
    };
    if authority.is_empty() || authority.starts_with(':') || !rest.chars().all(plain) {
        return Err(RULE);
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// Returns a base URL that is safe for secrets: https, or http to this machine.
///
/// # Errors
/// The rule that the text breaks.
pub fn upstream(text: &str) -> Result<String, &'static str> {
    let url = base(text)?;
    let host = url.strip_prefix("http://").map(|rest| host(rest.split('/').next().unwrap_or_default()));
    match host {
        None => Ok(url),
        Some(host) if host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()) => {
            Ok(url)
        }
        Some(_) => Err("must be https: plain http is for addresses of this machine"),
    }
}

/// Returns the host of `host:port`, without the brackets of IPv6.
fn host(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    }
}

#[cfg(test)]
mod tests {
    use super::{base, upstream};

    #[test]
    fn urls_are_accepted_or_rejected_by_rule() {
        for (text, as_base, as_upstream) in [
            ("https://pay.example/", true, true),
            ("https://pay.example/pix/", true, true),
            ("http://127.0.0.1:8080", true, true),
            ("http://[::1]:8080", true, true),
            ("http://localhost:1", true, true),
            ("http://pay.example", true, false),
            ("http://127.0.0.1.example", true, false),
            ("https://u:p@pay.example", false, false),
            ("https://", false, false),
            ("https://:80", false, false),
            ("ftp://pay.example", false, false),
            ("https://pay.example?x", false, false),
        ] {
            assert_eq!(base(text).is_ok(), as_base, "{text}");
            assert_eq!(upstream(text).is_ok(), as_upstream, "{text}");
        }
        assert_eq!(base("https://pay.example/"), Ok("https://pay.example".to_owned()));
    }
}
