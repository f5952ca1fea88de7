//! Sources of settings: file, environment, flags.

use crate::{
    args::{
        BaselineFlags, CalibrationFlags, CallingFlags, ComparingFlags, FleetFlags, GlobalFlags,
        HealthListenerFlags, JudgingFlags, RunFlags, ServeArguments, WorkerArguments,
    },
    exit::AppError,
};
use juror_app::{
    environment::Environment,
    settings::{BaseLayers, Layer, integer},
};
use juror_types::evidence::EvidenceMode;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// Environment variables with the prefix of settings that are not settings.
const NOT_SETTINGS: [&str; 3] = ["JUROR_CONFIG", READ_TOKEN, WRITE_TOKEN];

/// Environment variable of the HTTP server's read token.
pub const READ_TOKEN: &str = "JUROR_SERVE_READ_TOKEN";
/// Environment variable of the HTTP server's write token.
pub const WRITE_TOKEN: &str = "JUROR_SERVE_WRITE_TOKEN";

impl JudgingFlags {
    /// Settings of the given flags.
    pub fn layer(&self) -> Layer {
        Layer::default()
            .with("run.rubric", self.rubric.clone())
            .with("run.repeat", self.repeat)
            .with("run.enable_llm_judge", self.enable_llm_judge.then_some(true))
            .with("run.lane", self.lane.clone())
            .with("evidence.mode", self.evidence.map(EvidenceMode::name))
            .with("judge.model", self.model.clone())
            .with("files.data_roots", folders(&self.data_root))
    }
}

impl CallingFlags {
    /// Settings of the given flags.
    pub fn layer(&self) -> Layer {
        Layer::default()
            .with("judge.base_url", self.base_url.clone())
            .with("limits.rpm", self.rpm.map(integer))
            .with("limits.tpm", self.tpm.map(integer))
            .with("limits.max_concurrency", self.max_concurrency.map(|count| integer(count as u64)))
            .with("cache.enabled", self.no_cache.then_some(false))
    }
}

impl ComparingFlags {
    /// Settings of the given flags.
    pub fn layer(&self) -> Layer {
        Layer::default()
            .with("compare.margin", self.margin)
            .with("compare.strict", self.strict.then_some(true))
            .with("compare.max_lost", self.max_lost)
    }
}

impl BaselineFlags {
    /// Settings of the given flags.
    pub fn layer(&self) -> Layer {
        self.comparing.layer().with("run.baseline", self.baseline.clone())
    }
}

impl CalibrationFlags {
    /// Setting of the flag, if given.
    pub fn layer(&self) -> Layer {
        Layer::default().with("run.calibration", self.calibration.as_deref().map(path_text))
    }
}

impl RunFlags {
    /// Settings of the given flags.
    pub fn layer(&self) -> Layer {
        let tags = self.budget_tag.iter().map(ToString::to_string);
        self.judging
            .layer()
            .overlaid_with(self.baseline.layer())
            .overlaid_with(self.calibration.layer())
            .with("run.deadline", self.deadline.clone())
            .with("run.gate", self.gate.clone())
            .with("budget.tags", texts(tags))
            .with("run.keep_inputs", self.keep_inputs.then_some(true))
    }
}

impl FleetFlags {
    /// Settings of the given flags.
    pub fn layer(&self) -> Layer {
        Layer::default()
            .with("fleet.broker", self.broker.clone())
            .with("fleet.redis", self.redis.clone())
            .with("fleet.namespace", self.namespace.clone())
            .with("fleet.allow_volatile_redis", self.allow_volatile_redis.then_some(true))
    }
}

impl HealthListenerFlags {
    /// Setting of the flag, if given.
    pub fn layer(&self) -> Layer {
        Layer::default().with("fleet.listen", self.listen.map(|listen| listen.to_string()))
    }
}

impl ServeArguments {
    /// Settings of the given flags.
    pub fn layer(&self) -> Layer {
        self.calling
            .layer()
            .overlaid_with(self.fleet.layer())
            .with("files.data_roots", folders(&self.data_root))
            .with("serve.listen", self.listen.map(|listen| listen.to_string()))
    }
}

impl WorkerArguments {
    /// Settings of the given flags.
    pub fn layer(&self) -> Layer {
        self.calling
            .layer()
            .overlaid_with(self.fleet.layer())
            .overlaid_with(self.serving.layer())
            .with("files.data_roots", folders(&self.data_root))
            .with("fleet.drain_timeout_seconds", self.drain_timeout)
    }
}

/// Reads the settings file and the environment.
pub fn read(global: &GlobalFlags) -> Result<BaseLayers, AppError> {
    let environment = Environment::new(std::env::vars_os());
    let named = global.config.clone().or_else(|| std::env::var_os("JUROR_CONFIG").map(Into::into));
    let is_named = named.is_some();
    let settings_file = named.unwrap_or_else(|| "juror.toml".into());
    let below = file_layer(&settings_file, is_named)?
        .overlaid_with(sdk_layer(|name| environment.variable(name)))
        .overlaid_with(environment_layer(std::env::vars_os())?);
    let above = Layer::default()
        .with("run.runs_dir", global.runs_dir.as_deref().map(path_text))
        .with("run.state_dir", global.state.as_deref().map(path_text))
        .with("log.format", global.log_format.clone());
    Ok(BaseLayers { settings_file, below, above, environment })
}

/// Layer of the settings file; empty if there is none, and none is named.
fn file_layer(path: &Path, is_named: bool) -> Result<Layer, AppError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if !is_named && error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Layer::default());
        }
        Err(error) => {
            let path = path.display();
            return Err(AppError::invalid(format!("settings file {path} cannot be read: {error}")));
        }
    };
    Ok(Layer::parse(&text, &path.display().to_string())?)
}

/// Layer of the variable from which OpenAI's SDKs take the base URL. It overrides the settings
/// file, as the key's variable does: both belong together.
fn sdk_layer(variable: impl Fn(&str) -> Option<String>) -> Layer {
    let url = variable("OPENAI_BASE_URL").filter(|url| !url.trim().is_empty());
    Layer::default().with("judge.base_url", url.as_deref().map(str::trim))
}

fn environment_layer(
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Result<Layer, AppError> {
    let mut layer = Layer::default();
    for (name, value) in variables {
        let Ok(name) = name.into_string() else { continue };
        if !name.starts_with("JUROR_") || NOT_SETTINGS.contains(&name.as_str()) {
            continue;
        }
        let value = value
            .into_string()
            .map_err(|_| AppError::invalid(format!("environment variable {name} is not UTF-8")))?;
        layer = layer.overlaid_with(Layer::from_variable(&name, &value)?);
    }
    Ok(layer)
}

fn folders(folders: &[PathBuf]) -> Option<Vec<String>> {
    texts(folders.iter().map(|folder| path_text(folder)))
}

/// A list; `None` if it is empty.
fn texts(texts: impl Iterator<Item = String>) -> Option<Vec<String>> {
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then_some(texts)
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_app::settings::Settings;

    #[test]
    fn absent_flags_set_nothing() {
        assert!(RunFlags::default().layer().is_empty());
        assert!(CallingFlags::default().layer().is_empty());
        assert!(FleetFlags::default().layer().is_empty());
    }

    #[test]
    fn flags_set_their_settings() {
        let judging = JudgingFlags {
            model: Some("gpt-4.1".to_owned()),
            enable_llm_judge: true,
            data_root: vec!["shots".into()],
            ..JudgingFlags::default()
        };
        let run = RunFlags { judging, budget_usd: "1.5".parse().ok(), ..RunFlags::default() };
        let calling = CallingFlags {
            rpm: Some(600),
            max_concurrency: Some(4),
            no_cache: true,
            ..CallingFlags::default()
        };
        let flags = run.layer().overlaid_with(calling.layer());
        let base = BaseLayers::default();
        let settings = run.setup_request(flags, &base, &|_| ()).settings().unwrap();
        assert_eq!(settings.budget.run_usd, "1.5".parse().ok());
        assert_eq!(settings.judge.model, "gpt-4.1");
        assert_eq!(settings.limits.rpm, Some(600));
        assert_eq!(settings.limits.max_concurrency, Some(4));
        assert!(settings.run.enable_llm_judge);
        assert!(!settings.cache.enabled);
        assert_eq!(settings.files.data_roots, [PathBuf::from("shots")]);
    }

    #[test]
    fn only_juror_variables_are_settings() {
        let variables = [("PATH", "/bin"), ("JUROR_CONFIG", "x"), ("JUROR_JUDGE_MODEL", "m")];
        let layer = environment_layer(
            variables.into_iter().map(|(name, value)| (name.into(), value.into())),
        )
        .unwrap();
        assert_eq!(Settings::resolve(&[layer]).unwrap().judge.model, "m");
        let unknown = [("JUROR_MODEL".into(), "m".into())];
        assert!(environment_layer(unknown.into_iter()).is_err());
    }
}
