//! Whether a Redis may forget what was spent.

use super::connection::Connection;
use crate::admission::AdmissionError;
use std::collections::HashMap;

/// Refuses a finite budget on a server that may forget it.
///
/// # Errors
/// [`AdmissionError::Broken`] names the setting that would have to change.
pub async fn require_durable(connection: &Connection) -> Result<(), AdmissionError> {
    for (setting, wanted) in
        [("appendonly", "yes"), ("appendfsync", "always"), ("maxmemory-policy", "noeviction")]
    {
        let mut command = redis::cmd("CONFIG");
        command.arg("GET").arg(setting);
        let found: HashMap<String, String> = match connection.command(&command).await {
            Err(AdmissionError::Broken(_)) => HashMap::new(),
            answer => answer?,
        };
        let found = found.get(setting).map_or("not told", String::as_str);
        if found != wanted {
            return Err(AdmissionError::Broken(format!(
                "Redis at {} may forget what was spent ({setting} is {found}, not {wanted}), and so cannot hold a budget: set {setting} to {wanted} there, or accept the risk with --allow-volatile-redis",
                connection.address()
            )));
        }
    }
    Ok(())
}
