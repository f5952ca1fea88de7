//! The fleet's servers: only where they are configured, since one machine needs none.

use super::{Check, Health, bad, good, warning};
use juror_app::{budgets::BudgetState, fleet, settings::Settings};
use juror_ledger::{
    error::LedgerError,
    redis::{RedisLedger, Weakness},
};
use juror_queue::rabbitmq::{ConnectedWorkers, broker_version};
use juror_types::budget_label::BudgetLabel;

/// The oldest versions that are known to do what a fleet asks of them.
const OLDEST_BROKER: [u64; 2] = [3, 10];
const OLDEST_REDIS: [u64; 2] = [7, 0];

/// Checks of the servers that the settings name, and of the budgets of a run of these labels there.
pub async fn checks(settings: &Settings, labels: &[BudgetLabel]) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(broker) = &settings.fleet.broker {
        checks.push(match broker_version(broker, &settings.fleet.broker_tls()).await {
            Ok(version) => of_version("broker", "RabbitMQ", &version, OLDEST_BROKER),
            Err(error) => bad("broker", error.to_string()),
        });
        if checks.iter().all(|check| check.health == Health::Good) {
            checks.push(workers(settings).await);
        }
    }
    if settings.fleet.redis.is_some() {
        checks.extend(redis(settings, labels).await);
    }
    checks
}

/// The workers that are connected; one must draw only where evidence is measured.
async fn workers(settings: &Settings) -> Check {
    let ConnectedWorkers { all, drawing } = match fleet::workers(settings).await {
        Ok(workers) => workers,
        Err(failure) => return bad("workers", failure.to_string()),
    };
    let are = if all == 1 { "is" } else { "are" };
    let says = format!("{all} {are} connected, of which {drawing} can draw");
    if drawing == 0 && !settings.evidence.mode.is_none() {
        let remedy = "jobs that are measured wait for one with a browser: start it";
        return warning("workers", format!("{says}; {remedy}"));
    }
    good("workers", says)
}

async fn redis(settings: &Settings, labels: &[BudgetLabel]) -> Vec<Check> {
    let backend = match fleet::open_backend(settings).await {
        Ok(backend) => backend,
        Err(failure) => return vec![bad("redis", failure.to_string())],
    };
    let told = look(&backend, settings.fleet.allow_volatile_redis).await;
    let budgets = BudgetState::current(&*backend, &[]).await;
    backend.close().await;
    let mut checks = vec![told.unwrap_or_else(|error| bad("redis", error.to_string()))];
    // Where Redis does not answer, the check of it says so.
    checks.extend(budgets.ok().map(|budgets| super::budget(settings, labels, budgets)));
    checks
}

async fn look(backend: &RedisLedger, may_forget: bool) -> Result<Check, LedgerError> {
    let check = of_version("redis", "Redis", &backend.version().await?, OLDEST_REDIS);
    if backend.is_paused().await? {
        return Ok(warning(
            "redis",
            format!(
                "{}; it is new, or was started anew or emptied, and no call is admitted until the aggregator has \
                 reconciled the ledger: start that",
                check.says
            ),
        ));
    }
    let Some(Weakness { setting, found, wanted }) = backend.weakness().await? else {
        return Ok(check.and("it forgets nothing"));
    };
    let says = format!("{}; it may forget what was spent ({setting} is {found})", check.says);
    Ok(warning(
        "redis",
        match may_forget {
            true => format!("{says}, which you accepted"),
            false => format!(
                "{says}, so runs with a budget are refused: set {setting} to {wanted} there, or \
                 accept the risk with --allow-volatile-redis"
            ),
        },
    ))
}

/// Good news of a server, unless it is older than any that is known to do.
fn of_version(check: &'static str, server: &str, version: &str, [major, minor]: [u64; 2]) -> Check {
    let says = format!("{server} {version} answers");
    let mut parts = version.split('.').map_while(|part| part.parse::<u64>().ok());
    let found = [parts.next().unwrap_or(u64::MAX), parts.next().unwrap_or(0)];
    if found < [major, minor] {
        return bad(check, format!("{says}, which is too old: take {major}.{minor} or newer"));
    }
    good(check, says)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_too_old_is_bad_news() {
        for (version, health) in [
            ("3.9.29", Health::Bad),
            ("3.10.8", Health::Good),
            ("4.0.1", Health::Good),
            ("4", Health::Good),
            ("unknown", Health::Good),
        ] {
            let check = of_version("broker", "RabbitMQ", version, OLDEST_BROKER);
            assert_eq!(check.health, health, "{version}");
        }
    }
}
