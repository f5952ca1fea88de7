//! Release of jobs that workers hold while the ledger does not know their run.

use juror_queue::HeldMessages;
use juror_types::event::{Event, Events};
use std::{sync::Arc, time::Duration};
use tokio::{sync::Notify, time::sleep};

/// Time until the second release: a worker that queried the ledger before the reconciliation may
/// hold a job after it.
const SECOND_RELEASE: Duration = Duration::from_secs(5);

pub(super) struct Release {
    pub(super) held: Arc<dyn HeldMessages>,
    /// Notified when the ledger is reconciled.
    pub(super) reconciled: Arc<Notify>,
    pub(super) events: Events,
}

impl Release {
    /// Releases held jobs at each reconciliation.
    pub(super) async fn run(self) {
        loop {
            self.reconciled.notified().await;
            self.release().await;
            sleep(SECOND_RELEASE).await;
            self.release().await;
        }
    }

    async fn release(&self) {
        match self.held.release_held().await {
            Ok(0) => {}
            Ok(jobs) => tracing::info!(jobs, "held jobs released"),
            Err(error) => {
                let warning =
                    format!("held jobs could not be released and wait for their delay: {error}");
                self.events.emit(Event::Warning(warning)).await;
            }
        }
    }
}
