//! Check that a Redis server does not lose the record of spent money.

use super::RedisLedger;
use crate::error::LedgerError;
use std::collections::HashMap;

/// A setting by which a server may lose data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurabilityRisk {
    /// The setting's name.
    pub setting: &'static str,
    /// The value found.
    pub found: String,
    /// The value required.
    pub wanted: &'static str,
}

impl RedisLedger {
    /// The first setting by which the server may lose data, if there is one.
    pub async fn durability_risk(&self) -> Result<Option<DurabilityRisk>, LedgerError> {
        for (setting, wanted) in
            [("appendonly", "yes"), ("appendfsync", "always"), ("maxmemory-policy", "noeviction")]
        {
            let mut command = redis::cmd("CONFIG");
            command.arg("GET").arg(setting);
            let found: HashMap<String, String> = match self.connection.command(&command).await {
                Err(LedgerError::Broken(_)) => HashMap::new(),
                answer => answer?,
            };
            let found = found.get(setting).map_or("unknown", String::as_str);
            if found != wanted {
                return Ok(Some(DurabilityRisk { setting, found: found.to_owned(), wanted }));
            }
        }
        Ok(None)
    }

    /// Refuses a finite budget on a server that may lose its record.
    ///
    /// # Errors
    /// [`LedgerError::Broken`] names the setting to change.
    pub(super) async fn require_durable(&self) -> Result<(), LedgerError> {
        match self.durability_risk().await? {
            None => Ok(()),
            Some(DurabilityRisk { setting, found, wanted }) => Err(LedgerError::Broken(format!(
                "Redis at {} may lose the record of what was spent ({setting} is {found}, not {wanted}): a budget needs {setting} {wanted}. Set {setting} to {wanted} there, or accept the risk with --allow-volatile-redis",
                self.address()
            ))),
        }
    }
}
