//! Resolution of names to addresses that may be connected to. The connection is made to the checked
//! address: the name is not resolved a second time.

use super::address::is_public;
use async_trait::async_trait;
use juror_files::fetch_policy::FetchPolicy;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

/// A resolver of names.
#[async_trait]
pub(super) trait Lookup: Send + Sync {
    /// Every present address of a name.
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The operating system's resolver.
pub(super) struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// An address that must not be connected to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{leads} {address}, a private address, which is not allowed; if you trust \
     it, add {entry:?} to files.private_hosts"
)]
pub(super) struct AddressRefused {
    leads: String,
    address: IpAddr,
    entry: String,
}

/// A resolver for an HTTP client that returns checked addresses alone.
pub(super) struct CheckedResolver {
    pub(super) allowed: Arc<FetchPolicy>,
    pub(super) lookup: Arc<dyn Lookup>,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (allowed, lookup) = (Arc::clone(&self.allowed), Arc::clone(&self.lookup));
        Box::pin(async move {
            let name = name.as_str();
            let addresses = lookup.lookup(name).await?;
            if !allowed.is_private_host(name) {
                // One private address is enough: the name's owner could return that one.
                for address in &addresses {
                    check_address(&allowed, *address).map_err(|refused| AddressRefused {
                        leads: format!("{name} has the address"),
                        entry: name.to_owned(),
                        ..refused
                    })?;
                }
            }
            // The port is in the URL.
            let addresses = addresses.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}

/// Checks an address that is written in a URL.
pub(super) fn check_address(allowed: &FetchPolicy, address: IpAddr) -> Result<(), AddressRefused> {
    // An IPv4-mapped IPv6 address is checked as IPv4.
    if is_public(address) || allowed.is_private_address(address.to_canonical()) {
        return Ok(());
    }
    Err(AddressRefused { leads: "it resolves to".to_owned(), address, entry: address.to_string() })
}
