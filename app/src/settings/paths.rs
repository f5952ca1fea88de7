//! Files and folders that settings name.

use super::{HeaderSource, Settings};
use std::path::PathBuf;

impl Settings {
    /// Paths of single files and folders, each with its setting.
    pub fn paths(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        let Self { run, judge, render, fleet, serve, .. } = self;
        let paths = [
            ("run.runs_dir", Some(&run.runs_dir)),
            ("run.state_dir", run.state_dir.as_ref()),
            ("run.calibration", run.calibration.as_ref()),
            ("judge.api_key_file", judge.api_key_file.as_ref()),
            ("judge.ca_file", judge.ca_file.as_ref()),
            ("render.browser", render.browser.as_ref()),
            ("render.modules", render.modules.as_ref()),
            ("render.keep_dir", render.keep_dir.as_ref()),
            ("render.stylesheet", render.stylesheet.as_ref()),
            ("fleet.broker_ca_file", fleet.broker_ca_file.as_ref()),
            ("fleet.broker_client_certificate_file", fleet.broker_client_certificate_file.as_ref()),
            ("fleet.broker_client_key_file", fleet.broker_client_key_file.as_ref()),
            ("fleet.redis_ca_file", fleet.redis_ca_file.as_ref()),
            ("fleet.redis_client_certificate_file", fleet.redis_client_certificate_file.as_ref()),
            ("fleet.redis_client_key_file", fleet.redis_client_key_file.as_ref()),
            ("serve.read_token_file", serve.read_token_file.as_ref()),
            ("serve.write_token_file", serve.write_token_file.as_ref()),
        ];
        let headers = judge.headers.values().filter_map(|source| match source {
            HeaderSource::File { file } => Some(("judge.headers", file)),
            _ => None,
        });
        paths.into_iter().filter_map(|(setting, path)| Some((setting, path?))).chain(headers)
    }
}
