//! Sessions of browsers that have logged in.

use juror_types::id::Digest;
use parking_lot::Mutex;
use std::{collections::HashMap, time::Duration};
use tokio::time::Instant;

/// Lifetime of a session: a week.
pub const SESSION_TTL: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Maximum number of sessions; a further one ends the oldest.
const MAX_SESSIONS: usize = 1_024;

/// Permission of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessScope {
    /// View runs.
    Read,
    /// View, start, resume and cancel runs.
    Write,
}

/// Sessions in memory, by the digest of their id; they end with the process.
#[derive(Debug, Default)]
pub struct Sessions(Mutex<HashMap<Digest, BrowserSession>>);

impl Sessions {
    /// Opens a session; returns its id, which is the cookie's value.
    pub fn open(&self, scope: AccessScope) -> String {
        let id = format!("{:032x}{:032x}", rand::random::<u128>(), rand::random::<u128>());
        let now = Instant::now();
        let mut sessions = self.0.lock();
        sessions.retain(|_, session| session.expires > now);
        if sessions.len() >= MAX_SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, session)| session.expires);
            if let Some(oldest) = oldest.map(|(key, _)| *key) {
                sessions.remove(&oldest);
            }
        }
        sessions.insert(key(&id), BrowserSession { scope, expires: now + SESSION_TTL });
        id
    }

    /// The scope of an open session; `None` after its expiry or a log-out.
    pub fn scope(&self, id: &str) -> Option<AccessScope> {
        let session = *self.0.lock().get(&key(id))?;
        (session.expires > Instant::now()).then_some(session.scope)
    }

    /// Revokes a session.
    pub fn close(&self, id: &str) {
        self.0.lock().remove(&key(id));
    }
}

#[derive(Clone, Copy, Debug)]
struct BrowserSession {
    scope: AccessScope,
    expires: Instant,
}

/// Digest of an id, so that the time of a lookup reveals nothing about ids.
fn key(id: &str) -> Digest {
    Digest::from_content(id.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_session_ends_by_a_log_out_or_after_a_week() {
        let sessions = Sessions::default();
        let (reads, writes) = (sessions.open(AccessScope::Read), sessions.open(AccessScope::Write));
        assert_ne!(reads, writes);
        assert_eq!(sessions.scope(&reads), Some(AccessScope::Read));
        sessions.close(&reads);
        assert_eq!(sessions.scope(&reads), None);
        tokio::time::advance(SESSION_TTL - Duration::from_secs(1)).await;
        assert_eq!(sessions.scope(&writes), Some(AccessScope::Write));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(sessions.scope(&writes), None);
    }

    #[tokio::test(start_paused = true)]
    async fn session_beyond_the_limit_ends_the_oldest() {
        let sessions = Sessions::default();
        let oldest = sessions.open(AccessScope::Read);
        tokio::time::advance(Duration::from_secs(1)).await;
        let second = sessions.open(AccessScope::Read);
        for _ in 0..MAX_SESSIONS - 1 {
            sessions.open(AccessScope::Read);
        }
        assert_eq!(sessions.scope(&oldest), None);
        assert_eq!(sessions.scope(&second), Some(AccessScope::Read));
    }
}
