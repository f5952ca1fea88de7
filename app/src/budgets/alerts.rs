//! Alerts at shares of budgets, by a command or a webhook of the settings.
//!
//! An alert is sent once for a budget and its period: the ledger records it before it is sent, so
//! that processes that share the ledger send it once. A failed alert is retried a few times and
//! then reported as a warning.

mod command;
mod webhook;

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
use serde_json::json;
use std::time::Duration;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

/// Time limit of one command or webhook.
const ALERT_TIMEOUT: Duration = Duration::from_secs(10);
/// Pauses before the retries of a failed alert.
pub const RETRY_PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];
/// Maximum number of concurrent commands and webhooks.
const MAX_CONCURRENT_ALERTS: usize = 8;
/// Minimum interval between two checks, and maximum one if the ledger reports no change.
const MIN_CHECK_INTERVAL: Duration = Duration::from_millis(500);
const MAX_CHECK_INTERVAL: Duration = Duration::from_secs(15);

/// Watcher of the budgets of a ledger.
pub struct AlertWatch<'ledger> {
    pub records: &'ledger dyn BudgetRecords,
    pub alerts: &'ledger [AlertSettings],
    /// Pauses before retries, [`RETRY_PAUSES`].
    pub retry_pauses: &'ledger [Duration],
    /// Receives a warning for each alert that could not be sent.
    pub events: Events,
}

impl AlertWatch<'_> {
    /// Checks the budgets of this run, the day and the month after each change of the ledger,
    /// until `stop.drain`, and once more then. Ends immediately when `stop.now` is cancelled.
    pub async fn follow(&self, run: &RunId, changes: watch::Receiver<u64>, stop: &Shutdown) {
        if self.alerts.is_empty() {
            return;
        }
        let runs = std::slice::from_ref(run);
        stop.now.run_until_cancelled(self.check_on_changes(runs, changes, stop)).await;
    }

    async fn check_on_changes(
        &self,
        runs: &[RunId],
        mut changes: watch::Receiver<u64>,
        stop: &Shutdown,
    ) {
        loop {
            let ended = stop.drain.run_until_cancelled(next_check(&mut changes)).await.is_none();
            if let Err(error) = self.check(runs).await {
                tracing::debug!(%error, "budget alerts were not checked");
            }
            if ended {
                return;
            }
        }
    }

    /// Sends the alerts that are due for the budgets of these runs, of the day and of the month.
    ///
    /// # Errors
    /// An unavailable ledger.
    pub async fn check(&self, runs: &[RunId]) -> Result<(), LedgerError> {
        let mut due = Vec::new();
        for state in BudgetState::current(self.records, runs).await? {
            let mut claimed: Vec<&str> = Vec::new();
            for alert in self.alerts.iter().filter(|alert| is_reached(alert, &state)) {
                // Several alerts at one share are sent together.
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
        stream::iter(due).buffer_unordered(MAX_CONCURRENT_ALERTS).collect::<()>().await;
        Ok(())
    }

    async fn send(&self, alert: &AlertSettings, state: BudgetState) {
        let budget = state.scope.account_key();
        let message = message(alert, &budget, &state);
        let mut pauses = self.retry_pauses.iter();
        let cause = loop {
            let Err(cause) = deliver(alert, &message).await else { return };
            match pauses.next() {
                Some(pause) => sleep(*pause).await,
                None => break cause,
            }
        };
        let warning = format!(
            "the alert at {} of budget {budget} was not sent by its {} in {} tries: {cause}; giving up",
            alert.at.text(),
            alert.target.kind(),
            self.retry_pauses.len() + 1
        );
        self.events.emit(Event::Warning(warning)).await;
    }
}

/// Message for a command's standard input or a webhook's body.
fn message(alert: &AlertSettings, budget: &str, state: &BudgetState) -> String {
    let message = json!({
        "schema": 1,
        "event": "budget_alert",
        "budget": budget,
        "at": alert.at.share(),
        "spent_usd": state.spent_usd,
        "held_usd": state.held_usd,
        "cap_usd": state.cap_usd,
        "left_usd": state.left_usd,
        "renews_at": state.renews_at,
        "zone": state.zone,
        "sent_at": Timestamp::now(),
    });
    message.to_string()
}

async fn deliver(alert: &AlertSettings, message: &str) -> Result<(), String> {
    let delivery = async {
        match &alert.target {
            AlertTarget::Command(words) => command::run(words, message).await,
            AlertTarget::Webhook(url) => webhook::post(url, message).await,
        }
    };
    let delivered = timeout(ALERT_TIMEOUT, delivery).await;
    delivered.unwrap_or_else(|_| Err(format!("it took longer than {} s", ALERT_TIMEOUT.as_secs())))
}

/// True if spending has reached the share of the budget. A budget of zero has no shares.
fn is_reached(alert: &AlertSettings, state: &BudgetState) -> bool {
    state.cap_usd.is_some_and(|cap| alert.at.is_reached(state.spent_usd, cap))
}

async fn next_check(changes: &mut watch::Receiver<u64>) {
    sleep(MIN_CHECK_INTERVAL).await;
    // A closed ledger reports no more changes; the checks continue until the run ends.
    if !matches!(timeout(MAX_CHECK_INTERVAL, changes.changed()).await, Ok(Ok(()))) {
        sleep(MIN_CHECK_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests;
