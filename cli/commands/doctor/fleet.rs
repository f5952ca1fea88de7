//! Checks of the fleet's servers, where they are configured.

use super::{Check, Health, bad, checked, good, warning};
use crate::exit::AppError;
use juror_app::{budgets::BudgetState, fleet, settings::Settings};
use juror_ledger::{
    error::LedgerError,
    redis::{DurabilityRisk, RedisLedger},
};
use juror_queue::rabbitmq::{ConnectedWorkers, broker_version};
use juror_types::budget_label::BudgetLabel;

/// Minimum versions of a fleet's servers.
const MIN_BROKER_VERSION: [u64; 2] = [3, 10];
const MIN_REDIS_VERSION: [u64; 2] = [7, 0];

/// Checks of the servers in the settings, and of the budgets of a run of these labels there.
pub async fn checks(settings: &Settings, labels: &[BudgetLabel]) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(broker) = &settings.fleet.broker {
        checks.push(match broker_version(broker, &settings.fleet.broker_tls()).await {
            Ok(version) => version_check("broker", "RabbitMQ", &version, MIN_BROKER_VERSION),
            Err(error) => bad("broker", error),
        });
        if checks.iter().all(|check| check.health == Health::Good) {
            checks.push(checked("workers", workers(settings).await));
        }
    }
    if settings.fleet.redis.is_some() {
        checks.extend(redis(settings, labels).await);
    }
    checks
}

/// Check of the connected workers; evidence needs one that can render.
async fn workers(settings: &Settings) -> Result<Check, AppError> {
    let ConnectedWorkers { all, rendering } = fleet::workers(settings).await?;
    let are = if all == 1 { "is" } else { "are" };
    let message = format!("{all} {are} connected, of which {rendering} can render");
    if rendering == 0 && !settings.evidence.mode.is_none() {
        let remedy = "jobs with evidence wait for a worker with a browser: start one";
        return Ok(warning("workers", message).and(remedy));
    }
    Ok(good("workers", message))
}

async fn redis(settings: &Settings, labels: &[BudgetLabel]) -> Vec<Check> {
    let backend = match fleet::open_backend(settings).await {
        Ok(backend) => backend,
        Err(failure) => return vec![bad("redis", failure)],
    };
    let server = server_check(&backend, settings.fleet.allow_volatile_redis).await;
    let budgets = BudgetState::current(&*backend, &[]).await;
    backend.close().await;
    let mut checks = vec![checked("redis", server)];
    // The check of Redis reports that it is unavailable.
    checks.extend(budgets.ok().map(|budgets| super::budget(settings, labels, budgets)));
    checks
}

async fn server_check(backend: &RedisLedger, may_forget: bool) -> Result<Check, LedgerError> {
    let check = version_check("redis", "Redis", &backend.version().await?, MIN_REDIS_VERSION);
    if backend.is_admission_suspended().await? {
        return Ok(warning("redis", check.message).and(
            "it is new, was restarted or emptied, or has lost records: calls are suspended until the \
             ledger is reconciled; start the aggregator",
        ));
    }
    let Some(DurabilityRisk { setting, found, wanted }) = backend.durability_risk().await? else {
        return Ok(check.and("its storage is durable"));
    };
    let message = format!("{}; it may lose what was spent ({setting} is {found})", check.message);
    Ok(warning(
        "redis",
        match may_forget {
            true => format!("{message}, accepted by allow_volatile_redis"),
            false => format!(
                "{message}, so runs with a budget are refused: set {setting} to {wanted} there, or \
                 accept the risk with --allow-volatile-redis"
            ),
        },
    ))
}

/// Check of a server's version.
fn version_check(
    check: &'static str,
    server: &str,
    version: &str,
    [major, minor]: [u64; 2],
) -> Check {
    let message = format!("{server} {version} answers");
    let mut parts = version.split('.').map_while(|part| part.parse::<u64>().ok());
    let found = [parts.next().unwrap_or(u64::MAX), parts.next().unwrap_or(0)];
    if found < [major, minor] {
        return bad(check, format!("{message}, which is too old: use {major}.{minor} or newer"));
    }
    good(check, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outdated_server_is_a_failure() {
        for (version, health) in [
            ("3.9.29", Health::Bad),
            ("3.10.8", Health::Good),
            ("4.0.1", Health::Good),
            ("4", Health::Good),
            ("unknown", Health::Good),
        ] {
            let check = version_check("broker", "RabbitMQ", version, MIN_BROKER_VERSION);
            assert_eq!(check.health, health, "{version}");
        }
    }
}
