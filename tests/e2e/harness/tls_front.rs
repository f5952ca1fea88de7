//! TLS server that forwards to a plaintext server.

use juror_services::certificates::Identity;
use juror_tls::read_certificates;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{PrivateKeyDer, pem::PemObject as _},
};
use std::{net::SocketAddr, sync::Arc};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    runtime::{Builder, Runtime},
};
use tokio_rustls::TlsAcceptor;

pub struct TlsFront {
    port: u16,
    /// Ends all connections when dropped.
    _runtime: Runtime,
}

impl TlsFront {
    /// Starts a TLS front of the server at this base URL.
    pub fn start(identity: &Identity, base_url: &str) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let upstream = base_url.trim_start_matches("http://").split('/').next().unwrap();
        let upstream: SocketAddr = upstream.parse().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let acceptor = acceptor(identity);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let mut server = TcpStream::connect(upstream).await.unwrap();
                    // A client that rejects the certificate ends the handshake.
                    if let Ok(mut client) = acceptor.accept(stream).await {
                        let _ = copy_bidirectional(&mut client, &mut server).await;
                    }
                });
            }
        });
        Self { port, _runtime: runtime }
    }

    pub fn base_url(&self, host: &str) -> String {
        format!("https://{host}:{}/v1", self.port)
    }
}

fn acceptor(identity: &Identity) -> TlsAcceptor {
    let chain = read_certificates("the certificate", &identity.certificate).unwrap();
    let key = PrivateKeyDer::from_pem_file(&identity.key).unwrap();
    let provider = Arc::new(ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}
