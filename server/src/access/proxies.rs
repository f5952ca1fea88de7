//! Trusted proxies, and the addresses of the clients behind them.

use super::AccessError;
use axum::http::HeaderMap;
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};

/// Addresses and networks of proxies whose `X-Forwarded-For` is trusted.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Parses addresses (`10.0.0.1`) and networks (`10.0.0.0/8`).
    pub fn parse(texts: &[String]) -> Result<Self, AccessError> {
        let network = |text: &String| {
            let address = || text.parse::<IpAddr>().map(IpNet::from);
            let network = text.parse::<IpNet>().or_else(|_| address());
            network.map_err(|_| AccessError::InvalidProxy(text.clone()))
        };
        texts.iter().map(network).collect::<Result<_, _>>().map(Self)
    }

    /// True if an address is of a trusted proxy.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The client of a request: the peer, or, behind trusted proxies, the last address of
    /// `X-Forwarded-For` that is not itself a trusted proxy. An entry that is not an address ends
    /// the search.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let values = headers.get_all("x-forwarded-for").iter().rev();
        let entries = values.flat_map(|value| value.to_str().unwrap_or_default().rsplit(','));
        let mut client = peer.to_canonical();
        for entry in entries {
            if !self.contains(client) {
                break;
            }
            let Some(address) = address(entry.trim()) else { break };
            client = address.to_canonical();
        }
        client
    }
}

/// True if a proxy forwarded the request.
pub(super) fn is_forwarded(headers: &HeaderMap) -> bool {
    ["x-forwarded-for", "x-real-ip", "forwarded"].iter().any(|name| headers.contains_key(*name))
}

/// Parses an address with or without a port.
fn address(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse::<SocketAddr>().map(|address| address.ip()).ok();
    text.parse().ok().or_else(with_port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn client(proxies: &[&str], peer: &str, forwarded: &[&'static str]) -> String {
        let proxies: Vec<String> = proxies.iter().map(|proxy| (*proxy).to_owned()).collect();
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", HeaderValue::from_static(value));
        }
        let proxies = TrustedProxies::parse(&proxies).unwrap();
        proxies.client(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn only_trusted_proxies_name_their_clients() {
        let proxies = ["10.0.0.0/8", "::1"];
        for (peer, forwarded, expected) in [
            ("192.0.2.1", &["203.0.113.9"][..], "192.0.2.1"),
            ("10.0.0.1", &["203.0.113.9"], "203.0.113.9"),
            ("10.0.0.1", &[], "10.0.0.1"),
            // A client can forge entries before those that the proxies append.
            ("10.0.0.1", &["198.51.100.1, 203.0.113.9"], "203.0.113.9"),
            ("10.0.0.1", &["198.51.100.1", "203.0.113.9, 10.2.0.7"], "203.0.113.9"),
            ("::ffff:10.0.0.1", &["203.0.113.9:4711"], "203.0.113.9"),
            ("::1", &["[2001:db8::7]:80"], "2001:db8::7"),
            ("10.0.0.1", &["203.0.113.9, unknown"], "10.0.0.1"),
        ] {
            assert_eq!(client(&proxies, peer, forwarded), expected, "{peer} {forwarded:?}");
        }
        assert_eq!(client(&[], "127.0.0.1", &["203.0.113.9"]), "127.0.0.1");
    }

    #[test]
    fn a_proxy_is_an_address_or_a_network() {
        for text in ["", "proxy.example", "10.0.0.0/40", "10.0.0"] {
            let error = TrustedProxies::parse(&[text.to_owned()]).unwrap_err();
            assert!(error.to_string().contains("serve.trusted_proxies"), "{error}");
        }
    }
}
