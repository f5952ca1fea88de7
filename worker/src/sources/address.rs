//! Addresses of the public internet. Pure.
//!
//! All others are refused by default: an address of the own network or machine, or one that leads
//! there, would give the author of a manifest access to everything that only this machine can
//! reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// True if this is a unicast address of the public internet, by the registries of addresses for
/// special purposes: <https://www.iana.org/assignments/iana-ipv4-special-registry>,
/// <https://www.iana.org/assignments/iana-ipv6-special-registry>.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let special = match (first, second, third) {
        // This network, and shared space behind a carrier's translation.
        (0, ..) | (100, 64..=127, _) => true,
        // Protocol assignments, and relays to 6to4.
        (192, 0, 0) | (192, 88, 99) => true,
        // Benchmarks.
        (198, 18..=19, _) => true,
        // Multicast, reserved, broadcast.
        (224.., ..) => true,
        _ => false,
    };
    let usual = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation();
    !special && !usual
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let embedded = |high: u16, low: u16| {
        is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
    };
    match (a, b) {
        // An IPv4 address in another shape, or one that a translator makes of it.
        (0, 0) if [c, d, e, f] == [0, 0, 0, 0xffff] => embedded(g, h),
        (0x64, 0xff9b) if [c, d, e, f] == [0, 0, 0, 0] => embedded(g, h),
        // 6to4 carries one in its second part.
        (0x2002, _) => embedded(b, c),
        // Protocol assignments (Teredo, ORCHID, benchmarks) and documentation.
        (0x2001, 0..=0x01ff | 0x0db8) | (0x3fff, 0..=0x0fff) => false,
        // Everything else that is unicast and public is in 2000::/3.
        _ => a & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_are_recognized() {
        for address in [
            "1.1.1.1",
            "93.184.216.34",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450:4001::8",
            "2001:200::1",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
            "2002:101:101::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn non_public_addresses_are_recognized() {
        for address in [
            // Unspecified and this network.
            "0.0.0.0",
            "0.1.2.3",
            "::",
            // Loopback.
            "127.0.0.1",
            "127.255.255.254",
            "::1",
            // Private and unique local.
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "fc00::1",
            "fd12:3456::1",
            // Link-local, where clouds keep their metadata; the old site-local.
            "169.254.169.254",
            "fe80::1",
            "fec0::1",
            // Behind a carrier's translation.
            "100.64.0.1",
            "100.127.255.255",
            // Documentation and benchmarks.
            "192.0.2.1",
            "198.51.100.1",
            "203.0.113.1",
            "198.18.0.1",
            "198.19.255.255",
            "2001:db8::1",
            "2001:2::1",
            "3fff::1",
            // Protocol assignments, relays, Teredo, reserved, multicast, broadcast, discarded.
            "192.0.0.8",
            "192.88.99.1",
            "2001::1",
            "240.0.0.1",
            "255.255.255.255",
            "224.0.0.1",
            "239.255.255.255",
            "ff02::1",
            "100::1",
            "5f00::1",
            // The same in other shapes: mapped, compatible, translated, 6to4.
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "::ffff:0:127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::1.1.1.1",
            "2002:7f00:1::1",
            "2002:c0a8:101::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }
}
