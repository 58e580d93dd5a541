//! The address of the client behind a request.

use std::net::{IpAddr, SocketAddr};

use actix_web::HttpRequest;
use actix_web::http::header::{HeaderMap, HeaderName};
use ipnet::IpNet;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Returns the client's address: the socket's peer. If the peer is a trusted proxy, the address is the right-most hop of
/// `X-Forwarded-For` that is not a trusted proxy. Returns `None` if the socket has no peer address.
#[must_use]
pub fn address(request: &HttpRequest, trusted: &[IpNet]) -> Option<IpAddr> {
    let peer = request.peer_addr()?.ip().to_canonical();
    Some(if is_in(trusted, peer) { behind(peer, request.headers(), trusted) } else { peer })
}

/// Returns `true` if the address is in one of the `networks`.
#[must_use]
pub fn is_in(networks: &[IpNet], address: IpAddr) -> bool {
    networks.iter().any(|network| network.contains(&address))
}

/// Follows the hops from the proxy towards the client, up to the end or to an unreadable hop. Returns the first hop that is not a trusted
/// proxy. If there is none, returns the last hop that was read, or `proxy` if no hop was read.
fn behind(proxy: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let lines: Vec<&str> = headers.get_all(X_FORWARDED_FOR).map(|line| line.to_str().unwrap_or_default()).collect();
    let mut last = proxy;
    for hop in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
        // A hop that is not an address ends the search: it is no trusted proxy, so the hops to its left may be invented.
        let Some(hop) = parse(hop.trim()) else { return last };
        last = hop;
        if !is_in(trusted, hop) {
            return last;
        }
    }
    last
}

/// Parses an address as proxies write it, with or without a port.
fn parse(hop: &str) -> Option<IpAddr> {
    let bracketed = || hop.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let with_port = || hop.parse::<SocketAddr>().ok().map(|socket| socket.ip());
    hop.parse().ok().or_else(with_port).or_else(bracketed).map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use actix_web::test::TestRequest;

    use super::*;

    fn check(peer: &str, forwarded: &[&str], expected: &str) {
        let trusted = ["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()];
        let mut request = TestRequest::get().peer_addr(SocketAddr::new(peer.parse().unwrap(), 4_711));
        for line in forwarded {
            request = request.append_header(("X-Forwarded-For", *line));
        }
        let found = address(&request.to_http_request(), &trusted);
        assert_eq!(found, Some(expected.parse().unwrap()), "{peer} {forwarded:?}");
    }

    #[test]
    fn client_is_peer_unless_peer_is_trusted_proxy() {
        check("192.0.2.1", &[], "192.0.2.1");
        check("192.0.2.1", &["203.0.113.9"], "192.0.2.1");
        check("::ffff:192.0.2.1", &[], "192.0.2.1");
        check("10.0.0.1", &[], "10.0.0.1");
        check("10.0.0.1", &["203.0.113.9"], "203.0.113.9");
        check("2001:db8::1", &["2a00::9"], "2a00::9");
    }

    #[test]
    fn client_is_rightmost_hop_that_is_not_trusted() {
        check("10.0.0.1", &["1.1.1.1, 203.0.113.9"], "203.0.113.9");
        check("10.0.0.1", &["1.1.1.1, 203.0.113.9 , 10.0.0.2,10.0.0.3"], "203.0.113.9");
        check("10.0.0.1", &["1.1.1.1", "203.0.113.9", "10.0.0.2"], "203.0.113.9");
        check("::ffff:10.0.0.1", &["::ffff:203.0.113.9"], "203.0.113.9");
        check("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3");
        check("10.0.0.1", &["203.0.113.9:8080", "10.0.0.2:1"], "203.0.113.9");
        check("10.0.0.1", &["[2a00::9]:8080"], "2a00::9");
        check("10.0.0.1", &["[2a00::9]"], "2a00::9");
    }

    #[test]
    fn hop_that_is_not_an_address_ends_the_search() {
        for forwarded in ["203.0.113.9, unknown", "203.0.113.9, ", "203.0.113.9, 10.0.0.999"] {
            check("10.0.0.1", &[forwarded], "10.0.0.1");
        }
        check("10.0.0.1", &["203.0.113.9, x, 10.0.0.2"], "10.0.0.2");
    }
}
