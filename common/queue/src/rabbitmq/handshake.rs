//! Start of AMQP's handshake, before any login.

use super::{super::QueueError, address::Address, failure};
use futures_util::future::BoxFuture;
use juror_tls::TlsFiles;
use lapin::ErrorKind;
use std::{io, time::Duration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};

/// Protocol header of AMQP 0-9-1.
const HEADER: &[u8] = b"AMQP\x00\x00\x09\x01";
/// Type of the frame with the broker's first method; below, that method's class and number.
const METHOD_FRAME: u8 = 1;
/// Type of the TLS record with which a TLS server refuses plain text.
const TLS_ALERT: u8 = 21;
const START: [u8; 4] = [0, 10, 0, 10];
/// The property's name and type (a text), preceded by the name's length.
const VERSION: &[u8] = b"\x07versionS";
/// Maximum length of the frame; a broker's properties take some hundred bytes.
const MAX_LENGTH: u32 = 64 * 1024;
/// Timeout of the handshake: under full load a server took more than five seconds for a refusal.
const MAX_WAIT: Duration = Duration::from_secs(15);

/// The version of the broker at this URL, as in `3.10.8`. Does not log in or declare anything.
///
/// # Errors
/// [`QueueError::Refused`] if the URL or the files are invalid, or if the broker's certificate is
/// not accepted; [`QueueError::Unavailable`] if no broker replies.
pub fn broker_version<'a>(
    url: &'a str,
    files: &'a TlsFiles,
) -> BoxFuture<'a, Result<String, QueueError>> {
    Box::pin(async move {
        let address = Address::parse(url, files)?;
        let silent = |why: &dyn std::fmt::Display| {
            let remedy = "start RabbitMQ, or correct the setting fleet.broker";
            QueueError::Unavailable(format!("{address}: {why}; {remedy}"))
        };
        match timeout(MAX_WAIT, greeting(&address)).await {
            Ok(Ok(Greeting::Amqp(frame))) => {
                version(&frame).ok_or_else(|| silent(&"the server there is not RabbitMQ"))
            }
            Ok(Ok(Greeting::Tls)) => Err(failure::on_tls_port(&address)),
            Ok(Ok(Greeting::Other)) => Err(silent(&"the server there is not RabbitMQ")),
            Ok(Err(error)) => {
                Err(failure::on_tls(&address, &error).unwrap_or_else(|| silent(&error)))
            }
            Err(_) => Err(silent(&format!("no reply within {} s", MAX_WAIT.as_secs()))),
        }
    })
}

/// True if a connection without TLS failed because the server accepts only TLS.
pub(super) async fn expects_tls(address: &Address, error: &lapin::Error) -> bool {
    let is_candidate = matches!(error.kind(), ErrorKind::IOError(_) | ErrorKind::ParsingError(_));
    if address.has_tls() || !is_candidate {
        return false;
    }
    matches!(timeout(MAX_WAIT, greeting(address)).await, Ok(Ok(Greeting::Tls)))
}

enum Greeting {
    /// The first frame, without its header.
    Amqp(Vec<u8>),
    Tls,
    Other,
}

async fn greeting(address: &Address) -> io::Result<Greeting> {
    match exchange(address).await {
        // Data that was sent meanwhile may have discarded the server's reason.
        Err(cut) if cut.kind() == io::ErrorKind::ConnectionReset => {
            Err(address.probe_tls_rejection().await.unwrap_or(cut))
        }
        exchanged => exchanged,
    }
}

async fn exchange(address: &Address) -> io::Result<Greeting> {
    let mut stream = address.open_stream().await?;
    stream.write_all(HEADER).await?;
    let kind = stream.read_u8().await?;
    if kind == TLS_ALERT {
        return Ok(Greeting::Tls);
    }
    let _channel = stream.read_u16().await?;
    let length = stream.read_u32().await?;
    if kind != METHOD_FRAME || length > MAX_LENGTH {
        return Ok(Greeting::Other);
    }
    let mut frame = vec![0; length as usize];
    stream.read_exact(&mut frame).await?;
    Ok(Greeting::Amqp(frame))
}

/// The text after the property's name: its length in four bytes, then itself.
fn version(frame: &[u8]) -> Option<String> {
    let properties = frame.strip_prefix(&START)?;
    let at = properties.windows(VERSION.len()).position(|window| window == VERSION)?;
    let (length, text) = properties.get(at + VERSION.len()..)?.split_first_chunk()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    String::from_utf8(text.get(..length)?.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_parsed_only_from_a_handshake() {
        let mut frame = START.to_vec();
        frame.extend(b"\x00\x09\x00\x00\x00\x20\x07productS\x00\x00\x00\x08RabbitMQ");
        frame.extend(b"\x07versionS\x00\x00\x00\x063.10.8");
        assert_eq!(version(&frame).as_deref(), Some("3.10.8"));
        assert_eq!(version(&frame[1..]), None);
        assert_eq!(version(&frame[..frame.len() - 1]), None);
        assert_eq!(version(b""), None);
    }

    #[tokio::test]
    async fn broker_reports_its_version_and_other_servers_none() {
        let port = juror_services::rabbitmq::shared_port();
        let version = async |url: &str| broker_version(url, &TlsFiles::default()).await;
        let reported = version(&format!("amqp://nobody:wrong@127.0.0.1:{port}")).await.unwrap();
        assert!(reported.split('.').all(|part| part.parse::<u32>().is_ok()), "{reported}");
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("amqp://{}", nobody.local_addr().unwrap());
        drop(nobody);
        let away = version(&url).await.unwrap_err();
        assert!(matches!(away, QueueError::Unavailable(_)), "{away:?}");
    }
}
