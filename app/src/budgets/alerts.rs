//! Alerts at shares of budgets, by a command or a webhook of the settings.
//!
//! An alert is sent once for a budget and its period: the ledger records it before it goes out, so
//! that processes that share the ledger send it once. What fails is tried again a few times, and
//! then a warning.

mod command;
mod payload;
mod webhook;

pub use payload::AlertPayload;

use super::BudgetState;
use futures_util::{StreamExt as _, stream};
use jiff::Timestamp;
use juror_ledger::{
    admission::{AlertSettings, AlertTarget},
    budgets::BudgetRecords,
    error::LedgerError,
};
use juror_types::{
    event::{Event, Events},
    id::RunId,
    shutdown::Shutdown,
};
use std::time::Duration;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

/// Time limit of one command or webhook.
const ALERT_TIMEOUT: Duration = Duration::from_secs(10);
/// Pauses before an alert that failed is tried again; as many further tries.
pub const RETRY_PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];
/// Commands and webhooks under way at once.
const MAX_AT_ONCE: usize = 8;
/// Least pause between two looks, and most where the ledger tells no change.
const MIN_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(15);

/// Watcher of the budgets of a ledger.
pub struct AlertWatch<'ledger> {
    /// The ledger's budgets.
    pub records: &'ledger dyn BudgetRecords,
    /// Alerts of the settings.
    pub alerts: &'ledger [AlertSettings],
    /// Pauses between the tries of an alert that fails, [`RETRY_PAUSES`].
    pub retry_pauses: &'ledger [Duration],
    /// Receives a warning for each alert that could not be sent.
    pub events: Events,
}

impl AlertWatch<'_> {
    /// Looks at the budgets of this run, the day and the month whenever money was spent, until
    /// draining is asked for, and once more then. Ends at once when `now` is cancelled.
    pub async fn follow(&self, run: &RunId, changes: watch::Receiver<u64>, stop: &Shutdown) {
        if self.alerts.is_empty() {
            return;
        }
        let runs = std::slice::from_ref(run);
        stop.now.run_until_cancelled(self.look_often(runs, changes, stop)).await;
    }

    async fn look_often(&self, runs: &[RunId], mut changes: watch::Receiver<u64>, stop: &Shutdown) {
        loop {
            let ended = stop.drain.run_until_cancelled(next_change(&mut changes)).await.is_none();
            if let Err(error) = self.look(runs).await {
                tracing::debug!(%error, "budgets were not looked at for alerts");
            }
            if ended {
                return;
            }
        }
    }

    /// Sends the alerts that are due for the budgets of these runs, of the day and of the month.
    ///
    /// # Errors
    /// A ledger that does not answer.
    pub async fn look(&self, runs: &[RunId]) -> Result<(), LedgerError> {
        let mut due = Vec::new();
        for state in BudgetState::of_ledger(self.records, runs).await? {
            let mut claimed: Vec<&str> = Vec::new();
            for alert in self.alerts.iter().filter(|alert| is_reached(alert, &state)) {
                // Several alerts at one share go out together.
                if !claimed.contains(&alert.at.text())
                    && self.records.record_alert(&state.scope, alert.at.text()).await?
                {
                    claimed.push(alert.at.text());
                }
                if claimed.contains(&alert.at.text()) {
                    due.push(self.send(alert, state.clone()));
                }
            }
        }
        stream::iter(due).buffer_unordered(MAX_AT_ONCE).collect::<()>().await;
        Ok(())
    }

    async fn send(&self, alert: &AlertSettings, state: BudgetState) {
        let payload = AlertPayload::new(alert.at.share(), state, Timestamp::now());
        let mut pauses = self.retry_pauses.iter();
        let cause = loop {
            let Err(cause) = deliver(alert, &payload).await else { return };
            match pauses.next() {
                Some(pause) => sleep(*pause).await,
                None => break cause,
            }
        };
        let warning = format!(
            "the alert at {} of budget {} was not sent by its {} in {} tries: {cause}; it is not sent \
             again",
            alert.at.text(),
            payload.budget,
            alert.target.kind(),
            self.retry_pauses.len() + 1
        );
        self.events.emit(Event::Warning(warning)).await;
    }
}

/// One try.
async fn deliver(alert: &AlertSettings, payload: &AlertPayload) -> Result<(), String> {
    let delivery = async {
        match &alert.target {
            AlertTarget::Command(words) => command::run(words, payload).await,
            AlertTarget::Webhook(url) => webhook::post(url, payload).await,
        }
    };
    let delivered = timeout(ALERT_TIMEOUT, delivery).await;
    delivered.unwrap_or_else(|_| Err(format!("it took longer than {} s", ALERT_TIMEOUT.as_secs())))
}

/// True if what is spent has reached the share of the budget. A budget of nothing has no shares.
fn is_reached(alert: &AlertSettings, state: &BudgetState) -> bool {
    state.cap_usd.is_some_and(|cap| alert.at.is_reached(state.spent_usd, cap))
}

async fn next_change(changes: &mut watch::Receiver<u64>) {
    sleep(MIN_PAUSE).await;
    // A ledger that has ended tells no more; looking goes on until the run ends.
    if !matches!(timeout(MAX_PAUSE, changes.changed()).await, Ok(Ok(()))) {
        sleep(MIN_PAUSE).await;
    }
}

#[cfg(test)]
mod tests;
