//! The built-in renderer, by the settings.

pub mod test_page;

use crate::{cores::cores, environment::Environment, settings::Settings};
use futures_util::future::BoxFuture;
use juror_files::render_cache::RenderCache;
use juror_render::{BROWSER_NAMES, Renderer, RendererError, RendererSettings};
use juror_worker::evidence_resources::RenderingSettings;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// Browsers at most where the settings name no number: each takes some 200 MB.
const MAX_DEFAULT_CONCURRENCY: usize = 8;

/// The renderer and its trials of repairs.
pub fn rendering(settings: &Settings) -> RenderingSettings {
    RenderingSettings { renderer: renderer(settings), trials: settings.evidence.trials }
}

/// Store of rendered images: the folder of the settings, or one in the state folder.
pub fn renders(settings: &Settings) -> RenderCache {
    match &settings.render.keep_dir {
        Some(folder) => RenderCache::in_folder(folder.clone()),
        None => RenderCache::in_state(settings.run.state_dir()),
    }
}

/// True if there is a browser: that of the settings, else one on PATH.
pub fn has_browser(settings: &Settings, environment: &Environment) -> bool {
    let path = environment.variable("PATH").unwrap_or_default();
    let is_program = |name: &Path| match name.components().count() {
        1 => path.split(':').any(|folder| Path::new(folder).join(name).is_file()),
        _ => name.is_file(),
    };
    match &settings.render.browser {
        Some(browser) => is_program(browser),
        None => BROWSER_NAMES.map(PathBuf::from).iter().any(|name| is_program(name)),
    }
}

/// Renderer of a worker: its render command, or the name and version of its browser, which is started
/// once to see that it works.
///
/// # Errors
/// The worker renders nothing, for this reason.
pub fn find_renderer(settings: &Settings) -> BoxFuture<'_, Result<String, RendererError>> {
    Box::pin(async move {
        if !settings.stages.render_command.is_empty() {
            return Ok("stages.render_command".to_owned());
        }
        // A machine that is booting may be too busy at first.
        let renderer = match Renderer::start(renderer(settings)).await {
            Err(RendererError::NotStarted { .. }) => Renderer::start(renderer(settings)).await?,
            started => started?,
        };
        renderer.shut_down().await;
        Ok(renderer.browser().to_owned())
    })
}

/// Checks the files that the built-in renderer gives to each page.
///
/// # Errors
/// The files cannot be read; the message has the remedy.
pub fn check_render_files(settings: &Settings) -> Result<(), RendererError> {
    renderer(settings).check_files()
}

fn renderer(settings: &Settings) -> RendererSettings {
    let cores = cores().min(MAX_DEFAULT_CONCURRENCY);
    let render = &settings.render;
    RendererSettings {
        browser: render.browser.clone(),
        concurrency: render.concurrency.unwrap_or(cores),
        timeout: Duration::from_secs(render.timeout_seconds),
        tailwind: render.tailwind,
        modules: render.modules.clone(),
        stylesheet: render.stylesheet.clone(),
    }
}
