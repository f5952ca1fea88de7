//! `juror serve`: a dashboard and an HTTP API over the runs directory.

use crate::{
    args::ServeArguments,
    exit::{AppError, Exit},
    interactive::{listen, until_signal},
    settings_sources::{READ_TOKEN, WRITE_TOKEN},
    signals::SignalStream,
    terminal,
};
use juror_app::{
    item_source::DatasetItemSource,
    reporting::baseline,
    service::{Notice, RunRequestValidator, RunService},
    settings::{BaseLayers, ServeSettings, Settings},
};
use juror_server::{
    access::{Access, Secret, TrustedProxies},
    app_state::AppState,
    router::router,
    serve::serve,
};
use juror_types::{event::Events, shutdown::Shutdown};
use std::{env::VarError, net::SocketAddr, path::Path, sync::Arc, time::Duration};
use tokio::time::timeout;

/// Runs `juror serve` until it is stopped.
pub async fn run(arguments: &ServeArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let flags = arguments.layer();
    let settings = base.resolve(flags.clone())?;
    let listener = listen(settings.serve.listen).await?;
    let address = listener.local_addr().map_err(AppError::internal)?;
    let proxies =
        TrustedProxies::parse(&settings.serve.trusted_proxies).map_err(AppError::invalid)?;
    let access = access(&settings.serve, address)?.with_trusted_proxies(proxies.clone());
    let validator = RunRequestValidator::new(base.clone(), flags, settings.clone());
    let notify = Arc::new(|notice| match notice {
        Notice::Done(text) => terminal::print_hint(&text),
        Notice::Failed(text) => terminal::warn(&text),
    });
    let serving = async |shutdown: &Shutdown| {
        let service = Arc::new(RunService::new(validator, shutdown, notify));
        let site = AppState::new(
            settings.run.runs_dir.clone(),
            Arc::new(DatasetItemSource::new(settings.clone())),
            service.clone(),
            baseline::rules(&settings),
            settings.compare.max_baseline_age_days,
            shutdown.drain.clone(),
        );
        terminal::print(&format!("http://{address}"))?;
        warn_about_folders(&settings);
        let stop = shutdown.drain.clone();
        serve(listener, site.clone(), router(site, access), proxies, stop).await;
        let drain_timeout = Duration::from_secs(settings.serve.drain_timeout_seconds);
        if timeout(drain_timeout, service.ended()).await.is_err() {
            shutdown.now.cancel();
            service.ended().await;
        }
        Ok(Exit::Done)
    };
    until_signal(SignalStream::open(), Events::silent(), serving).await.0
}

/// Warns of missing folders.
fn warn_about_folders(settings: &Settings) {
    let runs_dir = &settings.run.runs_dir;
    if !runs_dir.is_dir() {
        terminal::warn(&format!(
            "{}: no such folder; there are no runs to show until one is created there; check \
             --runs-dir",
            runs_dir.display()
        ));
    }
    if settings.files.data_roots.is_empty() {
        terminal::print_hint("no --data-root: runs can be viewed and resumed, but not started");
    }
}

/// Read and write access, with tokens from the environment or from the files in the settings.
fn access(settings: &ServeSettings, address: SocketAddr) -> Result<Access, AppError> {
    let read = token(READ_TOKEN, settings.read_token_file.as_deref())?;
    let write = token(WRITE_TOKEN, settings.write_token_file.as_deref())?;
    Access::new(address, read, write, settings.hosts.clone()).map_err(AppError::invalid)
}

fn token(variable: &str, file: Option<&Path>) -> Result<Option<Secret>, AppError> {
    let (origin, text) = match (std::env::var(variable), file) {
        (Ok(text), _) => (format!("environment variable {variable}"), text),
        (Err(VarError::NotUnicode(_)), _) => {
            return Err(AppError::invalid(format!("environment variable {variable} is not UTF-8")));
        }
        (Err(VarError::NotPresent), Some(file)) => {
            let shown = file.display();
            let text = std::fs::read_to_string(file).map_err(|error| {
                AppError::invalid(format!("the token's file {shown} cannot be read: {error}"))
            })?;
            (format!("file {shown}"), text)
        }
        (Err(VarError::NotPresent), None) => return Ok(None),
    };
    let secret = Secret::new(&text);
    secret.map(Some).map_err(|error| AppError::invalid(format!("the token in {origin}: {error}")))
}
