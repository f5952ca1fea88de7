//! `[serve]`: the HTTP server.

use serde::Deserialize;
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

/// `[serve]`. The tokens themselves are not settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServeSettings {
    /// Address on which pages and the API are served.
    pub listen: SocketAddr,
    /// File of the read token.
    pub read_token_file: Option<PathBuf>,
    /// File of the write token, which also permits to start, resume and cancel runs.
    pub write_token_file: Option<PathBuf>,
    /// Additional host names of the server.
    pub hosts: Vec<String>,
    /// Addresses and networks of proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<String>,
    /// Maximum number of concurrent runs in the server's process.
    pub max_concurrent_runs: u32,
    /// Time that runs may take to finish calls in flight when the server stops, in seconds.
    pub drain_timeout_seconds: u64,
}

impl Default for ServeSettings {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            read_token_file: None,
            write_token_file: None,
            hosts: Vec::new(),
            trusted_proxies: Vec::new(),
            max_concurrent_runs: 0,
            drain_timeout_seconds: 0,
        }
    }
}
