//! TLS connections for lapin, whose built-in TLS would add another implementation with another
//! certificate verification.

use async_rs::{Runtime, Tokio, traits::Reactor, util::RuntimeParts};
use futures_io::{AsyncRead, AsyncWrite};
use futures_util::Stream;
use juror_tls::{TlsClient, TlsConnection};
use lapin::{AsyncTcpStream, Connection, ConnectionProperties, uri::AMQPUri};
use std::{
    io::{self, Read, Write},
    net::SocketAddr,
    time::{Duration, Instant},
};
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt as _};

/// Connects to a broker over TLS and logs in.
pub(super) async fn connect(
    uri: AMQPUri,
    tls: TlsClient,
    properties: ConnectionProperties,
) -> lapin::Result<Connection> {
    let tokio = Tokio::current();
    let runtime = Runtime::new(RuntimeParts::new(tokio.clone(), TlsReactor(tokio)));
    let connect = async move |uri: AMQPUri, _: Runtime<_>| {
        let stream = tls.connect(&uri.authority.host, uri.authority.port).await?;
        Ok(AsyncTcpStream::Plain(stream.compat()))
    };
    Connection::connector(uri, runtime, connect, properties).await
}

/// Tokio's reactor for TLS streams. It only provides their type and timers: [`connect`] opens the
/// streams.
#[derive(Clone, Debug)]
struct TlsReactor(Tokio);

impl Reactor for TlsReactor {
    type TcpStream = Compat<TlsConnection>;
    type Sleep = <Tokio as Reactor>::Sleep;

    fn register<H: Read + Write + Send + 'static>(
        &self,
        _: H,
    ) -> io::Result<impl AsyncRead + AsyncWrite + Send + Unpin + 'static> {
        Err::<Self::TcpStream, _>(io::ErrorKind::Unsupported.into())
    }

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        self.0.sleep(duration)
    }

    fn interval(&self, duration: Duration) -> impl Stream<Item = Instant> + Send + 'static {
        self.0.interval(duration)
    }

    fn tcp_connect_addr(
        &self,
        _: SocketAddr,
    ) -> impl Future<Output = io::Result<Self::TcpStream>> + Send + 'static {
        std::future::ready(Err(io::ErrorKind::Unsupported.into()))
    }
}
