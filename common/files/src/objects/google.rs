//! Google Cloud Storage.

use super::{ObjectSettings, connection::Connector, retries};
use juror_types::error_chain::with_causes;
use object_store::{
    ObjectStore, StaticCredentialProvider,
    gcp::{GcpCredential, GoogleCloudStorageBuilder},
};
use std::sync::Arc;

pub(super) fn open(
    bucket: &str,
    settings: &ObjectSettings,
    connector: Connector,
) -> Result<Arc<dyn ObjectStore>, String> {
    let credentials = &settings.credentials;
    let builder = GoogleCloudStorageBuilder::new()
        .with_bucket_name(bucket)
        .with_retry(retries(settings))
        .with_http_connector(connector);
    let key = credentials.get("GOOGLE_SERVICE_ACCOUNT_KEY");
    let builder = match (key, credentials.get("GOOGLE_APPLICATION_CREDENTIALS")) {
        (Some(key), _) => builder.with_service_account_key(key),
        (None, Some(file)) => builder.with_application_credentials(file),
        // Without an account the library would look for one in the user's folder, and query the
        // machine's metadata service.
        (None, None) => {
            let nobody = GcpCredential { bearer: String::new() };
            builder
                .with_credentials(Arc::new(StaticCredentialProvider::new(nobody)))
                .with_skip_signature(true)
        }
    };
    let store = builder.build().map_err(|error| with_causes(&error))?;
    Ok(Arc::new(store))
}
