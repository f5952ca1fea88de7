//! Failures of Redis and their messages.

use super::server::Server;
use crate::error::LedgerError;
use juror_tls::TlsFailure;
use redis::{ErrorKind, RedisError, ServerErrorKind};

/// The remedy where there is more than one primary.
pub const ONE_PRIMARY: &str = "give fleet.redis the address of one primary whose cluster mode is \
                               off (cluster-enabled no); replicas are welcome";

/// The error of a connection attempt.
pub fn explain_connecting(error: &RedisError, server: &Server) -> LedgerError {
    let is_cut = error.is_connection_dropped() && !error.is_connection_refusal();
    if !server.has_tls() && (is_cut || error.kind() == ErrorKind::Parse) {
        return LedgerError::Unavailable(format!(
            "Redis at {} closed the connection without a reply ({}): if it accepts TLS only, write \
             rediss:// in fleet.redis; otherwise check that Redis runs there",
            server.address(),
            cause(error)
        ));
    }
    let Some(TlsFailure { message, is_permanent }) = server.tls_failure(error) else {
        return explain(error, server.address());
    };
    let problem = format!("Redis at {}: {message}", server.address());
    match is_permanent {
        true => LedgerError::Broken(problem),
        false => LedgerError::Unavailable(problem),
    }
}

/// The error for the caller: server, cause and remedy.
pub fn explain(error: &RedisError, server: &str) -> LedgerError {
    let detail = cause(error);
    match error.kind() {
        ErrorKind::AuthenticationFailed | ErrorKind::Server(ServerErrorKind::NoPerm) => {
            LedgerError::Broken(format!(
                "Redis at {server} refused the login ({detail}): check the user and password in its URL, and that user's permissions"
            ))
        }
        ErrorKind::Server(
            ServerErrorKind::Moved
            | ServerErrorKind::Ask
            | ServerErrorKind::CrossSlot
            | ServerErrorKind::ClusterDown,
        ) => LedgerError::Broken(format!(
            "Redis at {server} is part of a cluster ({detail}): {ONE_PRIMARY}"
        )),
        ErrorKind::InvalidClientConfig | ErrorKind::RESP3NotSupported => {
            LedgerError::Broken(format!("Redis at {server} cannot be used ({detail})"))
        }
        ErrorKind::Server(ServerErrorKind::ResponseError)
            if detail.contains("max number of clients") =>
        {
            LedgerError::Unavailable(format!(
                "Redis at {server} has reached its limit of clients: raise its maxclients"
            ))
        }
        ErrorKind::Server(ServerErrorKind::ResponseError)
        | ErrorKind::UnexpectedReturnType
        | ErrorKind::Parse => LedgerError::Broken(format!(
            "the records in Redis at {server} cannot be used ({detail}): another program or another version of this one wrote under the same namespace; choose another with --namespace"
        )),
        ErrorKind::Extension if error.code().is_some_and(|code| code == "NOAUTH") => {
            LedgerError::Broken(format!(
                "Redis at {server} requires a password: give it in the URL, as in redis://:PASSWORD@host"
            ))
        }
        ErrorKind::Extension if error.code().is_some_and(|code| code == "OOM") => {
            LedgerError::Unavailable(format!(
                "Redis at {server} is out of memory ({detail}): raise its maxmemory, empty the reply cache by `juror cache clear`, or shorten retention (fleet.results_retention_days, fleet.reply_cache_ttl_days)"
            ))
        }
        _ => LedgerError::Unavailable(format!(
            "Redis at {server} is not reachable ({detail}): check that it runs and accepts connections from this machine"
        )),
    }
}

/// True if the connection is no longer usable.
pub fn lost_connection(error: &RedisError) -> bool {
    error.is_io_error() || error.is_unrecoverable_error()
}

/// The error of a reply in an unexpected shape.
pub fn unexpected_reply(step: &str) -> LedgerError {
    LedgerError::Broken(format!(
        "unexpected reply from Redis (to {step}): another version of this program wrote under the same namespace; choose another with --namespace"
    ))
}

/// Cause of a failure, without the URL, which may hold a password.
fn cause(error: &RedisError) -> String {
    match (error.code(), error.detail()) {
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        (_, Some(detail)) => detail.to_owned(),
        _ => error.to_string(),
    }
}
