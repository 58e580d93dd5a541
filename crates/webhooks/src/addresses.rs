//! The IP addresses that receivers may have: public ones, and blocks that the operator allows.
//!
//! Sources: the IANA special-purpose registries of IPv4 and IPv6 (RFC 6890 and its updates), and IANA's registry of the
//! IPv6 address space. In the address space only `2000::/3` is assigned as global unicast.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// IPv4 blocks that are not public.
const NOT_PUBLIC_V4: [Ipv4Net; 15] = [
    // "This host on this network", RFC 1122. `0.0.0.0` reaches this machine.
    v4([0, 0, 0, 0], 8),
    // Private, RFC 1918.
    v4([10, 0, 0, 0], 8),
    // Shared by carriers, RFC 6598. Clouds serve metadata from this block.
    v4([100, 64, 0, 0], 10),
    // Loopback.
    v4([127, 0, 0, 0], 8),
    // Link-local, RFC 3927. Clouds serve metadata from this block.
    v4([169, 254, 0, 0], 16),
    // Private, RFC 1918.
    v4([172, 16, 0, 0], 12),
    // Protocol assignments, RFC 6890.
    v4([192, 0, 0, 0], 24),
    // Documentation, RFC 5737.
    v4([192, 0, 2, 0], 24),
    // Relays of 6to4, RFC 7526.
    v4([192, 88, 99, 0], 24),
    // Private, RFC 1918.
    v4([192, 168, 0, 0], 16),
    // Benchmarks, RFC 2544.
    v4([198, 18, 0, 0], 15),
    // Documentation, RFC 5737.
    v4([198, 51, 100, 0], 24),
    // Documentation, RFC 5737.
    v4([203, 0, 113, 0], 24),
    // Multicast, RFC 5771.
    v4([224, 0, 0, 0], 4),
    // Reserved, RFC 1112, and the broadcast address.
    v4([240, 0, 0, 0], 4),
];

/// The global unicast range of IANA (RFC 4291 and its registry). Among the addresses outside of the range are:
///
/// - unspecified and loopback (`::`, `::1`), IPv4-compatible addresses (`::/96`) and local NAT64 (`64:ff9b:1::/48`);
/// - the discard and dummy prefixes (`100::/64`, `100:0:0:1::/64`) and segment routing (`5f00::/16`);
/// - unique local (`fc00::/7`), link-local (`fe80::/10`), site-local (`fec0::/10`) and multicast (`ff00::/8`).
const GLOBAL_UNICAST_V6: Ipv6Net = v6([0x2000, 0], 3);

/// Blocks of the global unicast range that are not public.
const NOT_PUBLIC_V6: [Ipv6Net; 4] = [
    // Protocol assignments, RFC 2928: Teredo (`2001::/32`), benchmarks (`2001:2::/48`), ORCHID (`2001:10::/28`,
    // `2001:20::/28`).
    v6([0x2001, 0], 23),
    // Documentation, RFC 3849.
    v6([0x2001, 0x0db8], 32),
    // 6to4, RFC 3056. The IPv4 address inside is not examined.
    v6([0x2002, 0], 16),
    // Documentation, RFC 9637.
    v6([0x3fff, 0], 20),
];

/// The well-known prefix of NAT64 (RFC 6052). Packets to such an address go to the IPv4 address in its last 32 bits.
const NAT64: Ipv6Net = v6([0x0064, 0xff9b], 96);

const fn v4([a, b, c, d]: [u8; 4], bits: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), bits)
}

const fn v6([a, b]: [u16; 2], bits: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), bits)
}

/// The rules for addresses.
#[derive(Debug, Clone)]
pub(crate) struct AddressRules {
    /// Blocks that may be called although they are not public.
    allowed: Vec<IpNet>,
}

impl AddressRules {
    pub(crate) fn new(allowed: Vec<IpNet>) -> Self {
        Self { allowed }
    }

    /// Returns whether a receiver may have the address. An IPv4-mapped or NAT64 address is public if its embedded IPv4
    /// address is public. An address that is not public is permitted if an allowed block contains it or its embedded
    /// IPv4 address.
    pub(crate) fn permits(&self, address: IpAddr) -> bool {
        let target = leads_to(address);
        let let_through = |block: &IpNet| block.contains(&address) || block.contains(&target);
        is_public(target) || self.allowed.iter().any(let_through)
    }
}

/// Returns the destination of packets to the address. For IPv4-mapped and NAT64 addresses, the destination is the
/// embedded IPv4 address.
fn leads_to(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(nat64) if NAT64.contains(&nat64) => {
            let [.., a, b, c, d] = nat64.octets();
            IpAddr::V4(Ipv4Addr::new(a, b, c, d))
        }
        other @ (IpAddr::V4(_) | IpAddr::V6(_)) => other,
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !NOT_PUBLIC_V4.iter().any(|block| block.contains(&v4)),
        IpAddr::V6(v6) => GLOBAL_UNICAST_V6.contains(&v6) && !NOT_PUBLIC_V6.iter().any(|block| block.contains(&v6)),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    use proptest::prelude::{any, proptest};

    use super::AddressRules;

    /// The first and last address of each refused range, written independently of the tables above.
    const REFUSED_V4: [(&str, &str); 15] = [
        ("0.0.0.0", "0.255.255.255"),
        ("10.0.0.0", "10.255.255.255"),
        ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"),
        ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"),
        ("192.0.0.0", "192.0.0.255"),
        ("192.0.2.0", "192.0.2.255"),
        ("192.88.99.0", "192.88.99.255"),
        ("192.168.0.0", "192.168.255.255"),
        ("198.18.0.0", "198.19.255.255"),
        ("198.51.100.0", "198.51.100.255"),
        ("203.0.113.0", "203.0.113.255"),
        ("224.0.0.0", "239.255.255.255"),
        ("240.0.0.0", "255.255.255.255"),
    ];

    const REFUSED_V6: [(&str, &str); 22] = [
        ("::", "::"),
        ("::1", "::1"),
        // IPv4-compatible addresses are refused, even those of public IPv4 addresses.
        ("::2", "::fffe:ffff:ffff"),
        ("::1:0:0:0", "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("64:ff9b::1:0:0", "64:ff9b:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("100::", "100::ffff:ffff:ffff:ffff"),
        ("100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff"),
        ("200::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff"),
        ("2001:10::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001:100::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("4000::", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("6000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ];

    fn public_only() -> AddressRules {
        AddressRules::new(Vec::new())
    }

    fn bits_v4(text: &str) -> u32 {
        text.parse::<Ipv4Addr>().unwrap().to_bits()
    }

    fn is_refused_v4(bits: u32) -> bool {
        REFUSED_V4.iter().any(|(first, last)| (bits_v4(first)..=bits_v4(last)).contains(&bits))
    }

    fn forms(v4: Ipv4Addr) -> [IpAddr; 3] {
        let [a, b, c, d] = v4.octets();
        let halves = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
        let [high, low] = halves;
        let nat64 = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low);
        [v4.into(), v4.to_ipv6_mapped().into(), nat64.into()]
    }

    #[test]
    fn ipv4_ranges_are_refused_exactly_to_their_ends() {
        for (first, last) in REFUSED_V4 {
            let (first, last) = (bits_v4(first), bits_v4(last));
            let ends = [first.checked_sub(1), Some(first), Some(last), last.checked_add(1)];
            for bits in ends.into_iter().flatten() {
                for address in forms(Ipv4Addr::from_bits(bits)) {
                    assert_eq!(public_only().permits(address), !is_refused_v4(bits), "{address}");
                }
            }
        }
    }

    #[test]
    fn ipv6_ranges_are_refused_at_their_ends() {
        for (first, last) in REFUSED_V6 {
            for text in [first, last] {
                assert!(!public_only().permits(text.parse().unwrap()), "{text}");
            }
        }
    }

    #[test]
    fn neighbors_of_refused_ranges_are_public() {
        for text in [
            "1.0.0.0",
            "8.8.8.8",
            "223.255.255.255",
            "2000::",
            "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            "2001:200::",
            "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
            "2001:db9::",
            "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            "2003::",
            "2606:4700:4700::1111",
            "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            "3fff:1000::",
            "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
        ] {
            assert!(public_only().permits(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn allowed_block_is_permitted_in_every_form() {
        let rules = AddressRules::new(vec!["127.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()]);
        for (text, wanted) in [
            ("127.0.0.1", true),
            ("::ffff:127.0.0.1", true),
            ("64:ff9b::127.0.0.1", true),
            ("fd00::1", true),
            ("8.8.8.8", true),
            ("128.0.0.1", true),
            ("126.255.255.255", true),
            ("10.0.0.1", false),
            ("::1", false),
            // The IPv4 address inside an IPv4-compatible or 6to4 address is not examined.
            ("::127.0.0.1", false),
            ("2002:7f00:1::", false),
            ("fc00::1", false),
        ] {
            assert_eq!(rules.permits(text.parse().unwrap()), wanted, "{text}");
        }
        let everything = AddressRules::new(vec!["0.0.0.0/0".parse().unwrap(), "::/0".parse().unwrap()]);
        for (first, last) in REFUSED_V4.into_iter().chain(REFUSED_V6) {
            assert!(everything.permits(first.parse().unwrap()) && everything.permits(last.parse().unwrap()), "{first}");
        }
    }

    proptest! {
        #[test]
        fn ipv4_address_is_permitted_outside_the_ranges(bits in any::<u32>()) {
            for address in forms(Ipv4Addr::from_bits(bits)) {
                assert_eq!(public_only().permits(address), !is_refused_v4(bits), "{address}");
            }
        }

        #[test]
        fn no_ipv6_address_outside_global_unicast_is_public(bits in any::<u128>()) {
            let address = Ipv6Addr::from_bits(bits);
            let [first, ..] = address.octets();
            // IPv4-mapped and NAT64 addresses outside this range can be public. A random address practically never has
            // one of their two prefixes, which have 96 bits.
            if first >> 5 != 1 {
                assert!(!public_only().permits(address.into()), "{}", address);
            }
        }
    }
}
