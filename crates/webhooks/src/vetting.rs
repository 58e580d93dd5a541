//! Checks the URL of a receiver, except for the addresses of the host name.

use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use cais_ports::webhooks::UrlRefusal;
use url::{Host, SyntaxViolation, Url};

use crate::addresses::AddressRules;

/// The longest name (RFC 1035, 2.3.4), in characters, without the dot at its end.
const MAX_NAME: usize = 253;
/// The longest part of a name (RFC 1035, 2.3.4), in characters.
const MAX_LABEL: usize = 63;
/// The addresses of loopback names (RFC 6761, 6.3). Name servers receive no queries for these names.
pub(crate) const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
/// Loopback names of common hosts files. Names under `localhost` are loopback names too.
const OWN_NAMES: [&str; 4] = ["localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"];

/// The checked URL of a receiver. The addresses of a host name are checked when the client connects.
#[derive(Debug)]
pub(crate) struct Target {
    /// The URL, exactly as called.
    pub(crate) url: Url,
    /// The name to resolve. `None` if the host is an IP address, which is already checked.
    pub(crate) name: Option<String>,
}

/// Checks the format, scheme, credentials and port of the URL. Also checks the host, if the host is an IP address or a
/// loopback name.
///
/// # Errors
/// [`UrlRefusal`].
pub(crate) fn check_url(text: &str, allow_insecure: bool, rules: &AddressRules) -> Result<Target, UrlRefusal> {
    let has_credentials = Cell::new(false);
    let watch = |violation| {
        if violation == SyntaxViolation::EmbeddedCredentials {
            has_credentials.set(true);
        }
    };
    let parsed = Url::options().syntax_violation_callback(Some(&watch)).parse(text);
    let mut url = parsed.map_err(|_| UrlRefusal::Malformed)?;
    match url.scheme() {
        "https" => {}
        "http" if allow_insecure => {}
        _ => return Err(UrlRefusal::Scheme),
    }
    if has_credentials.get() {
        return Err(UrlRefusal::Credentials);
    }
    if !url.port_or_known_default().is_some_and(|port| is_allowed(port, allow_insecure)) {
        return Err(UrlRefusal::Port);
    }
    // `://` is required: browsers accept `https:example.com`, `https:///example.com` and `https:\\example.com`, but
    // other programs parse these texts differently.
    let rest = text.get(url.scheme().len()..).and_then(|rest| rest.strip_prefix("://"));
    if rest.is_none_or(|rest| rest.starts_with(['/', '\\'])) {
        return Err(UrlRefusal::Malformed);
    }
    let name = match url.host().ok_or(UrlRefusal::Malformed)? {
        Host::Ipv4(address) => return literal(url, address.into(), rules),
        Host::Ipv6(address) => return literal(url, address.into(), rules),
        // A dot at the end only means that the name is absolute. The dot is removed.
        Host::Domain(name) => name.strip_suffix('.').unwrap_or(name).to_owned(),
    };
    if !is_name(&name) {
        return Err(UrlRefusal::Malformed);
    }
    if is_own_name(&name) && !LOOPBACK.into_iter().any(|address| rules.permits(address)) {
        return Err(UrlRefusal::NotPublic);
    }
    url.set_host(Some(&name)).map_err(|_| UrlRefusal::Malformed)?;
    Ok(Target { url, name: Some(name) })
}

/// Returns whether receivers may use the port. Ports of well-known services other than HTTPS are refused, so that a
/// merchant cannot make this service call such services. If plain HTTP is permitted, its port is permitted too.
const fn is_allowed(port: u16, allow_insecure: bool) -> bool {
    matches!(port, 443 | 1024..) || (allow_insecure && port == 80)
}

fn literal(url: Url, address: IpAddr, rules: &AddressRules) -> Result<Target, UrlRefusal> {
    if rules.permits(address) { Ok(Target { url, name: None }) } else { Err(UrlRefusal::NotPublic) }
}

/// Returns whether a host is a name. Its labels consist of letters, digits, dashes and underscores. Underscores are not
/// standard, but some servers use them.
fn is_name(host: &str) -> bool {
    let is_label = |label: &str| {
        (1..=MAX_LABEL).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    host.len() <= MAX_NAME && host.split('.').all(is_label)
}

/// Returns whether a name, in lower case and without a dot at its end, is a loopback name.
pub(crate) fn is_own_name(name: &str) -> bool {
    OWN_NAMES.contains(&name) || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_ports::webhooks::UrlRefusal::{self, Credentials, Malformed, NotPublic, Scheme};

    use super::check_url;
    use crate::addresses::AddressRules;

    fn found(text: &str, allow_insecure: bool, blocks: &[&str]) -> Result<String, UrlRefusal> {
        let rules = AddressRules::new(blocks.iter().map(|block| block.parse().unwrap()).collect());
        check_url(text, allow_insecure, &rules).map(|target| target.url.to_string())
    }

    #[track_caller]
    fn check(text: &str, wanted: Result<&str, UrlRefusal>) {
        assert_eq!(found(text, false, &[]), wanted.map(str::to_owned), "{text}");
    }

    #[test]
    fn port_must_be_https_or_not_reserved() {
        use cais_ports::webhooks::UrlRefusal::Port;
        for (port, wanted) in [
            (0, Err(Port)),
            (22, Err(Port)),
            (25, Err(Port)),
            (80, Err(Port)),
            (442, Err(Port)),
            (444, Err(Port)),
            (1023, Err(Port)),
            (1024, Ok("https://example.com:1024/")),
            (8443, Ok("https://example.com:8443/")),
            (65535, Ok("https://example.com:65535/")),
        ] {
            check(&format!("https://example.com:{port}/"), wanted);
        }
        assert_eq!(found("http://example.com/", true, &[]), Ok("http://example.com/".to_owned()));
        assert_eq!(found("http://example.com:25/", true, &[]), Err(Port));
    }

    #[test]
    fn url_must_be_absolute_and_https() {
        for (text, wanted) in [
            ("https://example.com", Ok("https://example.com/")),
            ("HTTPS://Example.COM:8443/a?b=c#d", Ok("https://example.com:8443/a?b=c#d")),
            ("https://example.com:443/hook", Ok("https://example.com/hook")),
            ("https://example.com./hook", Ok("https://example.com/hook")),
            ("https://my_host.example/", Ok("https://my_host.example/")),
            ("https://ação.example/ç", Ok("https://xn--ao-siap.example/%C3%A7")),
            ("https://8.8.8.8/", Ok("https://8.8.8.8/")),
            ("https://[2606:4700:4700::1111]:8443/", Ok("https://[2606:4700:4700::1111]:8443/")),
            ("https://localhost.example/", Ok("https://localhost.example/")),
            ("http://example.com/", Err(Scheme)),
            ("ftp://example.com/", Err(Scheme)),
            ("file:///etc/passwd", Err(Scheme)),
            ("gopher://127.0.0.1:6379/_x", Err(Scheme)),
            ("unix:/var/run/docker.sock", Err(Scheme)),
            ("javascript:alert(1)", Err(Scheme)),
            ("localhost:8080/hook", Err(Scheme)),
            ("", Err(Malformed)),
            ("example.com/hook", Err(Malformed)),
            ("/hook", Err(Malformed)),
            ("//example.com/hook", Err(Malformed)),
            ("https:", Err(Malformed)),
            ("https://", Err(Malformed)),
            ("https://:8443/", Err(Malformed)),
            ("https://?a", Err(Malformed)),
            ("https:example.com", Err(Malformed)),
            ("https:/example.com", Err(Malformed)),
            ("https:///example.com", Err(Malformed)),
            ("https:\\\\example.com", Err(Malformed)),
            ("https://\\example.com", Err(Malformed)),
            ("https://example.com:99999/", Err(Malformed)),
            ("https://example.com:x/", Err(Malformed)),
            ("https://a..example/", Err(Malformed)),
            ("https://example.com../", Err(Malformed)),
            ("https://./", Err(Malformed)),
            ("https://*.example/", Err(Malformed)),
            ("https://exa\"mple/", Err(Malformed)),
            ("https://exa%00mple/", Err(Malformed)),
            ("https://exa mple/", Err(Malformed)),
        ] {
            check(text, wanted);
        }
        check(&format!("https://{}.example/", "a".repeat(64)), Err(Malformed));
        check(&format!("https://{}/", vec!["a"; 128].join(".")), Err(Malformed));
    }

    #[test]
    fn url_with_credentials_is_refused() {
        for text in [
            "https://user@example.com/",
            "https://user:pass@example.com/",
            "https://:pass@example.com/",
            "https://@example.com/",
            "https://example.com@8.8.8.8/",
            "https://a@b@example.com/",
        ] {
            check(text, Err(Credentials));
        }
        check("https://example.com/@user?to=a@b", Ok("https://example.com/@user?to=a@b"));
    }

    /// Spellings of addresses that are not public: loopback, cloud metadata and private networks.
    const NOT_PUBLIC: [&str; 40] = [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "127.0.1",
        "127.255.255.254",
        "2130706433",
        "0x7f000001",
        "0x7F.0.0.1",
        "0x7f.1",
        "0177.0.0.1",
        "0177.1",
        "017700000001",
        "%31%32%37.0.0.1",
        "１２７.０.０.１",
        "127。0。0。1",
        "0",
        "0.0.0.0",
        "0x0",
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "10.1",
        "192.168.257",
        "255.255.255.255",
        "[::]",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::127.0.0.1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:a9fe:a9fe]",
        "[64:ff9b::10.0.0.1]",
        "[64:ff9b:1::1]",
        "[2002:7f00:1::]",
        "[2001:0:7f00:1::]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "localhost",
        "LOCALHOST.",
        "a.b.localhost",
    ];

    #[test]
    fn spelling_does_not_hide_a_private_address() {
        for host in NOT_PUBLIC {
            for port in ["", ":8443"] {
                check(&format!("https://{host}{port}/hook"), Err(NotPublic));
            }
        }
        for host in ["ip6-localhost", "localhost.localdomain", "ⓛocalhost", "%6cocalhost"] {
            check(&format!("https://{host}/"), Err(NotPublic));
        }
    }

    #[test]
    fn broken_spellings_of_addresses_are_no_names() {
        for host in [
            "127.0.0.256",
            "1.2.3.4.5",
            "0x7f.0.0.0.1",
            "4294967296",
            "08.8.8.8",
            "example.1",
            "[fe80::1%25eth0]",
            "[fe80::1%eth0]",
            "[::1",
            "[127.0.0.1]",
            "::1",
        ] {
            check(&format!("https://{host}/"), Err(Malformed));
        }
    }

    #[test]
    fn development_policy_permits_configured_blocks() {
        let loopback = &["127.0.0.0/8"][..];
        for (text, insecure, blocks, wanted) in [
            ("http://example.com/", true, &[][..], Ok("http://example.com/")),
            ("http://127.0.0.1:9000/", true, &[], Err(NotPublic)),
            ("http://127.0.0.1:9000/", false, loopback, Err(Scheme)),
            ("http://0x7f.1:9000/", true, loopback, Ok("http://127.0.0.1:9000/")),
            ("http://[::ffff:127.0.0.1]:9000/", true, loopback, Ok("http://[::ffff:7f00:1]:9000/")),
            ("http://localhost.:9000/", true, loopback, Ok("http://localhost:9000/")),
            ("http://localhost:9000/", true, &["::1/128"], Ok("http://localhost:9000/")),
            ("http://localhost:9000/", true, &["10.0.0.0/8"], Err(NotPublic)),
            ("http://[::1]:9000/", true, loopback, Err(NotPublic)),
            ("https://10.1.2.3/", false, &["10.0.0.0/8"], Ok("https://10.1.2.3/")),
        ] {
            assert_eq!(found(text, insecure, blocks), wanted.map(str::to_owned), "{text} {blocks:?}");
        }
    }
}
