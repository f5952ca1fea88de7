//! TLS connections to the servers of a fleet. Certificates are verified as in reqwest: by the
//! authorities of the system and, where a setting names a file, by those in it.

mod explain;
mod pem;
mod setting_names;

pub use explain::{TlsFailure, explain};
pub use pem::read_certificates;
pub use setting_names::TlsSettingNames;

use rustls::{ClientConfig, crypto::ring, pki_types::ServerName};
use rustls_platform_verifier::Verifier;
use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::{io::AsyncReadExt as _, net::TcpStream, time::timeout};
use tokio_rustls::{TlsConnector, client::TlsStream};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time to wait for the error of a server that refuses a client certificate.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(2);

/// PEM files of the connections to one server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificates of authorities, in addition to the system's.
    pub ca: Option<PathBuf>,
    /// The client certificate, followed by intermediate ones.
    pub client_certificate: Option<PathBuf>,
    /// The private key of the client certificate.
    pub client_key: Option<PathBuf>,
}

/// An invalid file of certificates or keys: the setting, the file, the problem and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TlsFileError(String);

impl TlsFileError {
    fn in_file(setting: &str, file: &Path, problem: &str) -> Self {
        Self(format!("{setting} {}: {problem}", file.display()))
    }
}

/// A client of TLS 1.2 and 1.3 for one server; clones share its certificates, which are read once.
#[derive(Clone)]
pub struct TlsClient {
    config: Arc<ClientConfig>,
    files: TlsFiles,
    names: TlsSettingNames,
}

/// An encrypted connection.
pub type TlsConnection = TlsStream<TcpStream>;

/// The error of a handshake without a reply.
#[derive(Debug, thiserror::Error)]
#[error("no reply to the TLS handshake within {} s", HANDSHAKE_TIMEOUT.as_secs())]
pub(crate) struct HandshakeTimeout;

impl TlsClient {
    /// Reads the files; `names` are the names of the settings in errors.
    ///
    /// # Errors
    /// A [`TlsFileError`] if a file is invalid, if a key has no certificate, or if there is no
    /// authority at all.
    pub fn new(files: TlsFiles, names: TlsSettingNames) -> Result<Self, TlsFileError> {
        let authorities = match &files.ca {
            Some(file) => read_certificates(names.ca_file, file)?,
            None => Vec::new(),
        };
        let identity = pem::read_identity(&files, &names)?;
        let unusable = |error| setup_error(&names, &files, &error);
        let provider = Arc::new(ring::default_provider());
        let verifier =
            Verifier::new_with_extra_roots(authorities, Arc::clone(&provider)).map_err(unusable)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let config = match identity {
            Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(unusable)?,
            None => builder.with_no_client_auth(),
        };
        Ok(Self { config: Arc::new(config), files, names })
    }

    /// The client for a server's URL; none for a URL without TLS, which must have no files.
    ///
    /// # Errors
    /// Those of [`TlsClient::new`], or files for a URL without TLS, for which encryption is
    /// expected.
    pub fn for_url(
        has_tls: bool,
        files: &TlsFiles,
        names: TlsSettingNames,
    ) -> Result<Option<Self>, TlsFileError> {
        if has_tls {
            return Self::new(files.clone(), names).map(Some);
        }
        let [certificate, key] = names.client_files.unwrap_or_default();
        let given = [
            (names.ca_file, &files.ca),
            (certificate, &files.client_certificate),
            (key, &files.client_key),
        ];
        match given.into_iter().find(|(_, file)| file.is_some()) {
            Some((setting, _)) => Err(TlsFileError(format!(
                "{setting} is set, but the URL in {} has no TLS: use {}://…, or remove {setting}",
                names.url, names.scheme
            ))),
            None => Ok(None),
        }
    }

    /// Connects, and verifies that the server's certificate is for this host.
    ///
    /// # Errors
    /// I/O errors; [`TlsClient::explain`] gives the meaning of TLS errors.
    pub async fn connect(&self, host: &str, port: u16) -> io::Result<TlsConnection> {
        // URLs have brackets around IPv6 addresses.
        let host = host.trim_matches(['[', ']']);
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let late = |_| io::Error::from(io::ErrorKind::TimedOut);
        let connecting = timeout(CONNECT_TIMEOUT, TcpStream::connect((host, port)));
        let stream = connecting.await.map_err(late)??;
        stream.set_nodelay(true)?;
        let connector = TlsConnector::from(Arc::clone(&self.config));
        timeout(HANDSHAKE_TIMEOUT, connector.connect(name, stream))
            .await
            .unwrap_or_else(|_| Err(io::Error::other(HandshakeTimeout)))
    }

    /// The error with which a server closes a new connection on which nothing is sent; `None` if it
    /// waits. A client may send before the server has verified its certificate (TLS 1.3), and then
    /// a reset can replace the server's reason: a connection that only listens receives it.
    pub async fn refusal(&self, host: &str, port: u16) -> Option<io::Error> {
        let listening = async {
            let mut stream = self.connect(host, port).await?;
            stream.read_u8().await
        };
        timeout(REFUSAL_TIMEOUT, listening).await.ok()?.err()
    }

    /// The TLS failure in an error's chain, if there is one.
    pub fn explain(&self, error: &(dyn std::error::Error + 'static)) -> Option<TlsFailure> {
        explain(error, &self.names, &self.files)
    }
}

impl fmt::Debug for TlsClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("TlsClient").field(&self.files).finish()
    }
}

/// The error of certificates that rustls does not accept.
fn setup_error(names: &TlsSettingNames, files: &TlsFiles, error: &rustls::Error) -> TlsFileError {
    match (error, names.client_files, &files.client_key) {
        (rustls::Error::InconsistentKeys(_), Some([certificate, key]), Some(file)) => {
            let problem = format!("it is not the key of the certificate in {certificate}");
            TlsFileError::in_file(key, file, &problem)
        }
        _ => TlsFileError(format!(
            "TLS cannot be set up ({error}): install the system's CA certificates, or correct the \
             file in {}",
            names.ca_file
        )),
    }
}

#[cfg(test)]
mod tests;
