//! Errors of the broker, by the caller's next step.

use super::{super::QueueError, address::Address};
use juror_tls::TlsFailure;
use lapin::{Error, ErrorKind, protocol::AMQPErrorKind};

/// AMQP's reply codes of permanent errors.
const ACCESS_REFUSED: u16 = 403;
const PRECONDITION_FAILED: u16 = 406;
const NOT_ALLOWED: u16 = 530;

/// The error of a connection attempt.
pub(super) fn on_connecting(address: &Address, error: &Error) -> QueueError {
    if let Some(failure) = on_tls(address, error) {
        return failure;
    }
    match reply_code(error) {
        Some(ACCESS_REFUSED | NOT_ALLOWED) => QueueError::Refused(format!(
            "{address} refused the login ({}); check user, password, vhost and permissions",
            describe(error)
        )),
        _ => QueueError::Unavailable(format!("{address}: {}", describe(error))),
    }
}

/// The error of declaring an exchange or a queue.
pub(super) fn on_declaring(address: &Address, name: &str, error: &Error) -> QueueError {
    match reply_code(error) {
        Some(PRECONDITION_FAILED) => QueueError::Refused(format!(
            "{name} exists at {address} with other arguments ({}); delete it once it is empty, \
             or use another namespace",
            describe(error)
        )),
        _ => on_using(address, error),
    }
}

/// The error of a connection or channel in use.
pub(super) fn on_using(address: &Address, error: &Error) -> QueueError {
    match reply_code(error) {
        Some(ACCESS_REFUSED) => QueueError::Refused(format!(
            "{address} denied permission ({}); give the user permission to configure, write and read",
            describe(error)
        )),
        _ => QueueError::Unavailable(format!("{address}: {}", describe(error))),
    }
}

/// The error of a TLS server at an address without TLS.
pub(super) fn on_tls_port(address: &Address) -> QueueError {
    QueueError::Refused(format!(
        "{address} accepts only TLS: use amqps:// in fleet.broker, or its port without \
         TLS (usually 5672)"
    ))
}

/// The error of a failed TLS connection.
pub(super) fn on_tls(
    address: &Address,
    error: &(dyn std::error::Error + 'static),
) -> Option<QueueError> {
    let TlsFailure { message, is_permanent } = address.tls_failure(error)?;
    let problem = format!("{address}: {message}");
    Some(match is_permanent {
        true => QueueError::Refused(problem),
        false => QueueError::Unavailable(problem),
    })
}

fn reply_code(error: &Error) -> Option<u16> {
    match error.kind() {
        ErrorKind::ProtocolError(error) => Some(match error.kind() {
            AMQPErrorKind::Soft(soft) => soft.get_id(),
            AMQPErrorKind::Hard(hard) => hard.get_id(),
        }),
        _ => None,
    }
}

fn describe(error: &Error) -> String {
    match error.kind() {
        ErrorKind::ProtocolError(error) => error.get_message().to_string(),
        ErrorKind::IOError(error) => error.to_string(),
        _ => error.to_string(),
    }
}
