//! Azure Blob Storage.

use super::{ObjectSettings, connection::Connector, retries};
use juror_types::error_chain::with_causes;
use object_store::{
    ObjectStore,
    azure::{AzureConfigKey, MicrosoftAzureBuilder},
};
use std::sync::Arc;

pub(super) fn open(
    container: &str,
    settings: &ObjectSettings,
    connector: Connector,
) -> Result<Arc<dyn ObjectStore>, String> {
    let credentials = &settings.credentials;
    let account = credentials.get("AZURE_STORAGE_ACCOUNT_NAME").ok_or_else(|| {
        "its storage account is unknown; set AZURE_STORAGE_ACCOUNT_NAME".to_owned()
    })?;
    let builder = MicrosoftAzureBuilder::new()
        .with_account(account)
        .with_container_name(container)
        .with_retry(retries(settings))
        .with_http_connector(connector);
    let key = credentials.get("AZURE_STORAGE_ACCOUNT_KEY");
    let builder = match (key, credentials.get("AZURE_STORAGE_SAS_TOKEN")) {
        (Some(key), _) => builder.with_access_key(key),
        (None, Some(token)) => builder.with_config(AzureConfigKey::SasKey, token),
        // Without an account the library would query the machine's metadata service for one.
        (None, None) => builder.with_skip_signature(true),
    };
    let store = builder.build().map_err(|error| with_causes(&error))?;
    Ok(Arc::new(store))
}
