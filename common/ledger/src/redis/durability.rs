//! Check that a Redis server does not lose the record of spent money.

use super::connection::Connection;
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

/// Refuses a finite budget on a server that may lose its record.
///
/// # Errors
/// [`LedgerError::Broken`] names the setting to change.
pub async fn require_durable(connection: &Connection) -> Result<(), LedgerError> {
    match durability_risk(connection).await? {
        None => Ok(()),
        Some(DurabilityRisk { setting, found, wanted }) => Err(LedgerError::Broken(format!(
            "Redis at {} may lose the record of what was spent ({setting} is {found}, not {wanted}): a budget needs {setting} {wanted}. Set {setting} to {wanted} there, or accept the risk with --allow-volatile-redis",
            connection.address()
        ))),
    }
}

/// The first setting by which the server may lose data.
pub async fn durability_risk(
    connection: &Connection,
) -> Result<Option<DurabilityRisk>, LedgerError> {
    for (setting, wanted) in
        [("appendonly", "yes"), ("appendfsync", "always"), ("maxmemory-policy", "noeviction")]
    {
        let mut command = redis::cmd("CONFIG");
        command.arg("GET").arg(setting);
        let found: HashMap<String, String> = match connection.command(&command).await {
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
