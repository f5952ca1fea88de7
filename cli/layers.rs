//! Gathers the layers of settings: file, environment, flags.

use crate::{
    args::{GlobalFlags, JudgingFlags},
    exit::Failure,
};
use juror_common::settings::{Layer, Settings};
use std::path::Path;

/// Variables of the environment that begin like settings and are none.
const NOT_SETTINGS: [&str; 1] = ["JUROR_CONFIG"];

/// Settles all layers: `flags` over the environment over the settings file over the defaults.
pub fn settle(global: &GlobalFlags, flags: Vec<Layer>) -> Result<Settings, Failure> {
    let mut layers = Vec::new();
    layers.extend(file_layer(global)?);
    layers.extend(environment_layers(std::env::vars_os())?);
    layers.extend(flags);
    let folders = [("runs_dir", &global.runs_dir), ("state", &global.state)];
    for (key, folder) in folders {
        if let Some(folder) = folder {
            layers.push(Layer::of("run", key, folder.to_string_lossy().into_owned()));
        }
    }
    Settings::resolve(&layers).map_err(Failure::usage)
}

fn file_layer(global: &GlobalFlags) -> Result<Option<Layer>, Failure> {
    let named = global.config.clone().or_else(|| std::env::var_os("JUROR_CONFIG").map(Into::into));
    let path = named.as_deref().unwrap_or(Path::new("juror.toml"));
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => {
            let path = path.display();
            return Err(Failure::usage(format!("settings file {path} cannot be read: {error}")));
        }
    };
    Layer::parse(&text, &path.display().to_string()).map(Some).map_err(Failure::usage)
}

fn environment_layers(
    variables: impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)>,
) -> Result<Vec<Layer>, Failure> {
    variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| name.starts_with("JUROR_") && !NOT_SETTINGS.contains(&name.as_str()))
        .map(|(name, value)| {
            let value = value
                .into_string()
                .map_err(|_| Failure::usage(format!("environment variable {name} is not UTF-8")))?;
            Layer::from_variable(&name, &value).map_err(Failure::usage)
        })
        .collect()
}

impl JudgingFlags {
    /// The flags that were given, as settings.
    pub fn layers(&self) -> Vec<Layer> {
        let mut layers = Vec::new();
        let mut set = |section, key, value: Option<toml::Value>| {
            layers.extend(value.map(|value| Layer::of(section, key, value)));
        };
        let text = |text: &Option<String>| text.clone().map(toml::Value::from);
        let number = |number: Option<u64>| {
            number.map(|number| toml::Value::from(i64::try_from(number).unwrap_or(i64::MAX)))
        };
        set("run", "rubric", text(&self.rubric));
        set("run", "repeat", number(self.repeat.map(u64::from)));
        set("run", "enable_llm_judge", self.enable_llm_judge.then_some(true.into()));
        set("judge", "model", text(&self.model));
        set("judge", "base_url", text(&self.base_url));
        set("limits", "rpm", number(self.rpm));
        set("limits", "tpm", number(self.tpm));
        set("limits", "max_concurrency", number(self.max_concurrency.map(|count| count as u64)));
        set("cache", "enabled", self.no_cache.then_some(false.into()));
        if !self.data_root.is_empty() {
            let roots: Vec<String> =
                self.data_root.iter().map(|root| root.to_string_lossy().into_owned()).collect();
            set("files", "data_roots", Some(roots.into()));
        }
        layers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_were_not_given_set_nothing() {
        assert!(JudgingFlags::default().layers().is_empty());
    }

    #[test]
    fn flags_reach_the_settings_that_they_name() {
        let flags = JudgingFlags {
            model: Some("gpt-4.1".to_owned()),
            rpm: Some(600),
            max_concurrency: Some(4),
            enable_llm_judge: true,
            no_cache: true,
            data_root: vec!["shots".into()],
            ..JudgingFlags::default()
        };
        let settings = Settings::resolve(&flags.layers()).unwrap();
        assert_eq!(settings.judge.model, "gpt-4.1");
        assert_eq!(settings.limits.rpm, Some(600));
        assert_eq!(settings.limits.max_concurrency, Some(4));
        assert!(settings.run.enable_llm_judge);
        assert!(!settings.cache.enabled);
        assert_eq!(settings.files.data_roots, [std::path::PathBuf::from("shots")]);
    }

    #[test]
    fn only_variables_of_juror_are_settings() {
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
