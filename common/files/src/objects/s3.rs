//! Amazon S3 and compatible stores.

use super::{Credentials, ObjectSettings, S3Account, connection::Connector, retries};
use juror_types::error_chain::with_causes;
use object_store::{
    ObjectStore,
    aws::{AmazonS3Builder, AmazonS3ConfigKey as Key},
};
use std::sync::Arc;

pub(super) fn open(
    bucket: &str,
    settings: &ObjectSettings,
    connector: Connector,
) -> Result<Arc<dyn ObjectStore>, String> {
    let credentials = &settings.credentials;
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(bucket)
        .with_retry(retries(settings))
        .with_http_connector(connector);
    if let Some(region) = settings.region.as_deref().or(credentials.get("AWS_REGION")) {
        builder = builder.with_region(region);
    }
    if let Some(endpoint) = &settings.endpoint {
        builder = builder.with_endpoint(endpoint.trim_end_matches('/'));
    }
    if credentials.account() == S3Account::Instance {
        let store = with_role(builder, credentials).build().map_err(|error| with_causes(&error))?;
        return Ok(Arc::new(store));
    }
    builder = match (credentials.get("AWS_ACCESS_KEY_ID"), credentials.get("AWS_SECRET_ACCESS_KEY"))
    {
        (Some(id), Some(secret)) => builder.with_access_key_id(id).with_secret_access_key(secret),
        // Without an account the library would query the machine's metadata service for one.
        (None, None) => builder.with_skip_signature(true),
        _ => {
            let problem = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set together, and one is \
                           not set";
            return Err(problem.to_owned());
        }
    };
    if let Some(token) = credentials.get("AWS_SESSION_TOKEN") {
        builder = builder.with_token(token);
    }
    let store = builder.build().map_err(|error| with_causes(&error))?;
    Ok(Arc::new(store))
}

/// The role of the machine, or of the container or pod if the environment names one.
fn with_role(builder: AmazonS3Builder, credentials: &Credentials) -> AmazonS3Builder {
    [
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", Key::ContainerAuthorizationTokenFile),
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", Key::ContainerCredentialsFullUri),
        ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", Key::ContainerCredentialsRelativeUri),
        ("AWS_EC2_METADATA_SERVICE_ENDPOINT", Key::MetadataEndpoint),
        ("AWS_ROLE_ARN", Key::RoleArn),
        ("AWS_ROLE_SESSION_NAME", Key::RoleSessionName),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", Key::WebIdentityTokenFile),
    ]
    .into_iter()
    .filter_map(|(variable, key)| Some((key, credentials.get(variable)?)))
    .fold(builder, |builder, (key, value)| builder.with_config(key, value))
}
