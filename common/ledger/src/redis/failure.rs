//! Failures of Redis and their messages.

use super::server::Server;
use crate::error::LedgerError;
use juror_tls::TlsFailure;
use redis::{ErrorKind, RedisError, ServerErrorKind};

/// The remedy where there is more than one primary.
pub const ONE_PRIMARY: &str = "give fleet.redis the address of one primary whose cluster mode is \
                               off (cluster-enabled no); replicas are welcome";

/// A connection that was not made.
pub fn explain_connecting(error: &RedisError, server: &Server) -> LedgerError {
    let is_cut = error.is_connection_dropped() && !error.is_connection_refusal();
    if !server.has_tls() && (is_cut || error.kind() == ErrorKind::Parse) {
        return LedgerError::Unavailable(format!(
            "Redis at {} ends the connection without an answer ({}): if it speaks TLS only, write \
             rediss:// in fleet.redis; else check that it runs there",
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

/// The failure as its caller sees it: with the server, the cause and the remedy.
pub fn explain(error: &RedisError, server: &str) -> LedgerError {
    let detail = cause(error);
    match error.kind() {
        ErrorKind::AuthenticationFailed | ErrorKind::Server(ServerErrorKind::NoPerm) => {
            LedgerError::Broken(format!(
                "Redis at {server} does not let us in ({detail}): check user and password in its URL, and what that user may do"
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
                "Redis at {server} lets no further client in: raise its maxclients"
            ))
        }
        ErrorKind::Server(ServerErrorKind::ResponseError)
        | ErrorKind::UnexpectedReturnType
        | ErrorKind::Parse => LedgerError::Broken(format!(
            "the records in Redis at {server} cannot be used ({detail}): another program or another version of this one wrote under the same namespace; choose another with --namespace"
        )),
        ErrorKind::Extension if error.code().is_some_and(|code| code == "NOAUTH") => {
            LedgerError::Broken(format!(
                "Redis at {server} asks for a password: give it in the URL, as in redis://:PASSWORD@host"
            ))
        }
        ErrorKind::Extension if error.code().is_some_and(|code| code == "OOM") => {
            LedgerError::Unavailable(format!(
                "Redis at {server} has no memory left ({detail}): raise its maxmemory, empty the verdict cache by `juror cache clear`, or keep less (fleet.results_retention_days, fleet.reply_cache_ttl_days)"
            ))
        }
        _ => LedgerError::Unavailable(format!(
            "Redis at {server} does not answer ({detail}): check that it runs and can be reached"
        )),
    }
}

/// True if the connection is of no more use.
pub fn lost_connection(error: &RedisError) -> bool {
    error.is_io_error() || error.is_unrecoverable_error()
}

/// An answer in a shape that no script gives.
pub fn odd_answer(step: &str) -> LedgerError {
    LedgerError::Broken(format!(
        "Redis answered in an unknown way when asked to {step}: another version of this program wrote under the same namespace; choose another with --namespace"
    ))
}

/// Cause of a failure; never the URL, which may hold a password.
fn cause(error: &RedisError) -> String {
    match (error.code(), error.detail()) {
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        (_, Some(detail)) => detail.to_owned(),
        _ => error.to_string(),
    }
}
