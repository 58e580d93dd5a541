//! The addresses of upstream services. An address is absolute and has no credentials. `http` is accepted only for this machine.

use reqwest::Url;

/// The reason an address cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// The text is not an absolute `https` or `http` address.
    #[error("must be an absolute https address")]
    NotAnAddress,
    /// Secrets would be sent in clear text.
    #[error("must be https: http is accepted only for this machine's own addresses")]
    Insecure,
    /// The address has a user, a query or a fragment.
    #[error("must have neither a user, nor a query, nor a fragment")]
    Decorated,
}

/// Parses an address that paths are appended to. A trailing slash is ignored.
pub(crate) fn parse_base(text: &str) -> Result<Url, UrlError> {
    let trimmed = text.trim().trim_end_matches('/');
    let url = Url::parse(trimmed).map_err(|_| UrlError::NotAnAddress)?;
    let plain =
        url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    match url.scheme() {
        "https" | "http" if !plain => Err(UrlError::Decorated),
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => Err(UrlError::Insecure),
        _ => Err(UrlError::NotAnAddress),
    }
}

fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}

/// Percent-encodes a text as one path segment. Only unreserved characters stay (RFC 3986, 2.3).
///
/// The rule is stricter than required, because some servers read `+` as a blank in paths.
pub(crate) fn encode_segment(text: &str) -> String {
    const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or('0');
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.extend(['%', digit(byte >> 4), digit(byte & 0x0F)]);
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::{UrlError, encode_segment, parse_base};

    #[test]
    fn http_address_of_another_machine_is_refused() {
        for (text, wanted) in [
            ("https://pix.example", Ok("https://pix.example/")),
            ("https://pix.example/api/", Ok("https://pix.example/api")),
            ("http://127.0.0.1:8080", Ok("http://127.0.0.1:8080/")),
            ("http://[::1]:8080/", Ok("http://[::1]:8080/")),
            ("http://localhost:1", Ok("http://localhost:1/")),
            ("http://localhost.example", Err(UrlError::Insecure)),
            ("http://10.0.0.1", Err(UrlError::Insecure)),
            ("ftp://pix.example", Err(UrlError::NotAnAddress)),
            ("pix.example", Err(UrlError::NotAnAddress)),
            ("", Err(UrlError::NotAnAddress)),
            ("https://user@pix.example", Err(UrlError::Decorated)),
            ("https://pix.example?a=b", Err(UrlError::Decorated)),
        ] {
            let found = parse_base(text);
            let found = found.as_ref().map(reqwest::Url::as_str);
            assert_eq!(found, wanted.as_ref().copied(), "{text}");
        }
    }

    #[test]
    fn path_segment_is_percent_encoded() {
        assert_eq!(encode_segment("+5511987654321"), "%2B5511987654321");
        assert_eq!(encode_segment("a.b-c_d~e@f/g"), "a.b-c_d~e%40f%2Fg");
    }
}
