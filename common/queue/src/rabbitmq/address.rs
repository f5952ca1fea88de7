//! Address of a broker, parsed from its URL; displayed without the password.

use super::{super::QueueError, tls_reactor};
use juror_tls::{TlsClient, TlsFailure, TlsFiles, TlsSettingNames};
use lapin::{
    Connection, ConnectionProperties,
    uri::{AMQPScheme, AMQPUri},
};
use std::{error::Error, fmt, io};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

/// Heartbeat interval, so that a dead connection is detected within 30 s.
const HEARTBEAT_SECONDS: u16 = 15;

/// Address of a broker with its credentials.
#[derive(Clone)]
pub(super) struct Address {
    uri: AMQPUri,
    /// None for `amqp://`.
    tls: Option<TlsClient>,
}

/// A connection to a broker, with or without TLS.
pub(super) trait BrokerStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> BrokerStream for S {}

impl Address {
    /// Parses `amqp://user:password@host:port/vhost` or, with TLS, `amqps://…`, and reads the files
    /// that TLS needs.
    pub(super) fn parse(url: &str, files: &TlsFiles) -> Result<Self, QueueError> {
        // Without the parser's error, which may quote the URL with its password.
        let mut uri: AMQPUri = url.parse().map_err(|_| {
            let remedy = "use amqp://user:password@host:5672/vhost";
            QueueError::Refused(format!("the broker's URL is invalid; {remedy}"))
        })?;
        uri.query.heartbeat.get_or_insert(HEARTBEAT_SECONDS);
        let has_tls = uri.scheme == AMQPScheme::AMQPS;
        let tls = TlsClient::for_url(has_tls, files, TlsSettingNames::BROKER)
            .map_err(|error| QueueError::Refused(error.to_string()))?;
        Ok(Self { uri, tls })
    }

    /// True if connections are encrypted.
    pub(super) fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Connects and logs in.
    pub(super) async fn connect(
        &self,
        properties: ConnectionProperties,
    ) -> lapin::Result<Connection> {
        match &self.tls {
            Some(tls) => tls_reactor::connect(self.uri.clone(), tls.clone(), properties).await,
            None => Connection::connect_uri(self.uri.clone(), properties).await,
        }
    }

    /// Opens the TCP or TLS stream without the AMQP handshake.
    pub(super) async fn open_stream(&self) -> io::Result<Box<dyn BrokerStream>> {
        let authority = &self.uri.authority;
        match &self.tls {
            Some(tls) => Ok(Box::new(tls.connect(&authority.host, authority.port).await?)),
            None => {
                let place = (authority.host.as_str(), authority.port);
                Ok(Box::new(TcpStream::connect(place).await?))
            }
        }
    }

    /// Opens an idle TLS connection and returns the error with which the broker rejects it.
    pub(super) async fn probe_tls_rejection(&self) -> Option<io::Error> {
        let authority = &self.uri.authority;
        self.tls.as_ref()?.refusal(&authority.host, authority.port).await
    }

    /// The TLS failure behind an error, if there is one.
    pub(super) fn tls_failure(&self, error: &(dyn Error + 'static)) -> Option<TlsFailure> {
        self.tls.as_ref().and_then(|tls| tls.explain(error))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authority = &self.uri.authority;
        let scheme = if self.has_tls() { "amqps://" } else { "" };
        write!(formatter, "RabbitMQ at {scheme}{}:{}", authority.host, authority.port)?;
        if self.uri.vhost != "/" {
            write!(formatter, ", vhost {}", self.uri.vhost)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Address, QueueError> {
        Address::parse(url, &TlsFiles::default())
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (url, shown) in [
            ("amqp://juror:secret@broker:5673/nightly", "RabbitMQ at broker:5673, vhost nightly"),
            ("amqp://127.0.0.1", "RabbitMQ at 127.0.0.1:5672"),
            ("amqps://juror:secret@broker", "RabbitMQ at amqps://broker:5671"),
        ] {
            assert_eq!(parse(url).unwrap_or_else(|error| panic!("{error}")).to_string(), shown);
        }
    }

    #[test]
    fn unusable_address_is_refused_without_its_password() {
        for url in ["http://juror:secret@broker", "secret", ""] {
            let refused = parse(url).err().unwrap();
            assert!(matches!(refused, QueueError::Refused(_)), "{url}");
            assert!(!refused.to_string().contains("secret"), "{refused}");
        }
    }

    #[test]
    fn files_for_tls_are_refused_without_tls() {
        let files = TlsFiles { client_key: Some("key.pem".into()), ..TlsFiles::default() };
        let refused = Address::parse("amqp://juror:secret@broker", &files).err().unwrap();
        let refused = refused.to_string();
        assert!(refused.contains("fleet.broker_client_key_file is set"), "{refused}");
        assert!(refused.contains("use amqps://"), "{refused}");
    }
}
