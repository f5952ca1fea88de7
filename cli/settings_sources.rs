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
    settings::{BaseLayers, Layer, Settings, integer},
};
use std::path::PathBuf;

/// Environment variables with the prefix of settings that are not settings.
const NOT_SETTINGS: [&str; 3] = ["JUROR_CONFIG", READ_TOKEN, WRITE_TOKEN];

/// Environment variable of the HTTP server's read token.
pub const READ_TOKEN: &str = "JUROR_SERVE_READ_TOKEN";
/// Environment variable of the HTTP server's write token.
pub const WRITE_TOKEN: &str = "JUROR_SERVE_WRITE_TOKEN";

impl JudgingFlags {
    /// Settings of the given flags.
    pub fn layers(&self) -> Vec<Layer> {
        Layer::from_values([
            ("run", "rubric", text(&self.rubric)),
            ("run", "repeat", self.repeat.map(toml::Value::from)),
            ("run", "enable_llm_judge", self.enable_llm_judge.then_some(true.into())),
            ("run", "lane", text(&self.lane)),
            ("evidence", "mode", self.evidence.map(|mode| mode.name().into())),
            ("judge", "model", text(&self.model)),
            ("files", "data_roots", folders(&self.data_root)),
        ])
    }
}

impl CallingFlags {
    /// Settings of the given flags.
    pub fn layers(&self) -> Vec<Layer> {
        Layer::from_values([
            ("judge", "base_url", text(&self.base_url)),
            ("limits", "rpm", self.rpm.map(integer)),
            ("limits", "tpm", self.tpm.map(integer)),
            ("limits", "max_concurrency", self.max_concurrency.map(|count| integer(count as u64))),
            ("cache", "enabled", self.no_cache.then_some(false.into())),
        ])
    }
}

impl ComparingFlags {
    /// Settings of the given flags.
    pub fn layers(&self) -> Vec<Layer> {
        Layer::from_values([
            ("compare", "margin", self.margin.map(toml::Value::from)),
            ("compare", "strict", self.strict.then_some(true.into())),
            ("compare", "max_lost", self.max_lost.map(toml::Value::from)),
        ])
    }
}

impl BaselineFlags {
    /// Settings of the given flags.
    pub fn layers(&self) -> Vec<Layer> {
        let baseline = Layer::from_values([("run", "baseline", text(&self.baseline))]);
        [baseline, self.comparing.layers()].concat()
    }
}

impl CalibrationFlags {
    /// Setting of the flag, if given.
    pub fn layers(&self) -> Vec<Layer> {
        let path = self.calibration.as_ref().map(|path| path.to_string_lossy().into_owned());
        Layer::from_values([("run", "calibration", path.map(toml::Value::from))])
    }
}

impl RunFlags {
    /// Settings of the given flags.
    pub fn layers(&self) -> Vec<Layer> {
        let tags = self.budget_tag.iter().cloned().map(String::from);
        let own = Layer::from_values([
            ("run", "deadline", text(&self.deadline)),
            ("run", "gate", text(&self.gate)),
            ("budget", "tags", texts(tags)),
            ("run", "keep_inputs", self.keep_inputs.then_some(true.into())),
        ]);
        [self.judging.layers(), self.baseline.layers(), self.calibration.layers(), own].concat()
    }
}

impl FleetFlags {
    /// Settings of the given flags.
    pub fn layers(&self) -> Vec<Layer> {
        let volatile = self.allow_volatile_redis.then_some(true.into());
        Layer::from_values([
            ("fleet", "broker", text(&self.broker)),
            ("fleet", "redis", text(&self.redis)),
            ("fleet", "namespace", text(&self.namespace)),
            ("fleet", "allow_volatile_redis", volatile),
        ])
    }
}

impl HealthListenerFlags {
    /// Settings of the given flags.
    pub fn layers(&self) -> Vec<Layer> {
        Layer::from_values([(
            "fleet",
            "listen",
            self.listen.map(|listen| listen.to_string().into()),
        )])
    }
}

impl ServeArguments {
    /// Settings of the given flags.
    pub fn layers(&self) -> Vec<Layer> {
        let own = Layer::from_values([
            ("files", "data_roots", folders(&self.data_root)),
            ("serve", "listen", self.listen.map(|listen| listen.to_string().into())),
        ]);
        [own, self.calling.layers(), self.fleet.layers()].concat()
    }
}

impl WorkerArguments {
    /// Settings of the given flags.
    pub fn layers(&self) -> Vec<Layer> {
        let own = Layer::from_values([
            ("files", "data_roots", folders(&self.data_root)),
            ("fleet", "drain_timeout_seconds", self.drain_timeout.map(toml::Value::from)),
        ]);
        [own, self.calling.layers(), self.fleet.layers(), self.serving.layers()].concat()
    }
}

/// Reads the settings file and the environment.
pub fn read(global: &GlobalFlags) -> Result<BaseLayers, AppError> {
    let environment = Environment::new(std::env::vars_os());
    let mut below = Vec::new();
    below.extend(file_layer(global)?);
    below.extend(sdk_layer(|name| environment.variable(name)));
    below.extend(environment_layers(std::env::vars_os())?);
    let mut above = Vec::new();
    for (key, folder) in [("runs_dir", &global.runs_dir), ("state_dir", &global.state)] {
        if let Some(folder) = folder {
            above.push(Layer::from_value("run", key, folder.to_string_lossy().into_owned()));
        }
    }
    let log_format = global.log_format.clone();
    above.extend(log_format.map(|format| Layer::from_value("log", "format", format)));
    Ok(BaseLayers::new(below, above, environment))
}

/// Reads the settings file and the environment, and resolves them with the flags.
pub fn resolve(global: &GlobalFlags, flags: Vec<Layer>) -> Result<Settings, AppError> {
    Ok(read(global)?.resolve(flags)?)
}

/// Path of the settings file, and true if it was named and so must exist.
pub fn settings_file(global: &GlobalFlags) -> (PathBuf, bool) {
    let named = global.config.clone().or_else(|| std::env::var_os("JUROR_CONFIG").map(Into::into));
    let is_named = named.is_some();
    (named.unwrap_or_else(|| "juror.toml".into()), is_named)
}

fn file_layer(global: &GlobalFlags) -> Result<Option<Layer>, AppError> {
    let (path, is_named) = settings_file(global);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if !is_named && error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => {
            let path = path.display();
            return Err(AppError::invalid(format!("settings file {path} cannot be read: {error}")));
        }
    };
    Layer::parse(&text, &path.display().to_string()).map(Some).map_err(AppError::invalid)
}

/// Layer of the variable from which OpenAI's SDKs take the base URL. It overrides the settings
/// file, as the key's variable does: both belong together.
fn sdk_layer(variable: impl Fn(&str) -> Option<String>) -> Option<Layer> {
    let url = variable("OPENAI_BASE_URL").filter(|url| !url.trim().is_empty())?;
    Some(Layer::from_value("judge", "base_url", url.trim().to_owned()))
}

fn environment_layers(
    variables: impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)>,
) -> Result<Vec<Layer>, AppError> {
    variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| name.starts_with("JUROR_") && !NOT_SETTINGS.contains(&name.as_str()))
        .map(|(name, value)| {
            let value = value.into_string().map_err(|_| {
                AppError::invalid(format!("environment variable {name} is not UTF-8"))
            })?;
            Layer::from_variable(&name, &value).map_err(AppError::invalid)
        })
        .collect()
}

fn folders(folders: &[PathBuf]) -> Option<toml::Value> {
    texts(folders.iter().map(|folder| folder.to_string_lossy().into_owned()))
}

/// A list; none if it is empty.
fn texts(texts: impl Iterator<Item = String>) -> Option<toml::Value> {
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.into())
}

fn text(text: &Option<String>) -> Option<toml::Value> {
    text.clone().map(toml::Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_flags_set_nothing() {
        assert!(RunFlags::default().layers().is_empty());
        assert!(CallingFlags::default().layers().is_empty());
        assert!(FleetFlags::default().layers().is_empty());
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
        let layers = [run.layers(), calling.layers()].concat();
        let base = BaseLayers::default();
        let settings = run.setup_request(layers, &base, &|_| ()).settings().unwrap();
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
        let layers = environment_layers(
            variables.into_iter().map(|(name, value)| (name.into(), value.into())),
        )
        .unwrap();
        assert_eq!(Settings::resolve(&layers).unwrap().judge.model, "m");
        let unknown = [("JUROR_MODEL".into(), "m".into())];
        assert!(environment_layers(unknown.into_iter()).is_err());
    }
}
