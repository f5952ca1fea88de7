//! Proxy and headers of calls to the judge, from the settings and the environment.

use crate::{
    error::AppError,
    settings::{HeaderSource, JudgeSettings},
};
use juror_worker::vision::{ExtraHeaders, ProxySettings};

/// Value of `judge.proxy` that ignores the environment's proxy.
const NO_PROXY: &str = "none";

/// The proxy of the settings, else of the environment's usual variables, which do not apply to
/// this machine.
pub fn proxy(
    judge: &JudgeSettings,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<ProxySettings> {
    match judge.proxy.as_deref() {
        Some(NO_PROXY) => return None,
        Some(url) => return Some(ProxySettings { url: url.to_owned(), except: None }),
        None => {}
    }
    let first = |names: &[&str]| {
        names.iter().find_map(|name| variable(name).filter(|value| !value.trim().is_empty()))
    };
    let names = match judge.base_url.starts_with("https:") {
        true => ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        false => ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
    };
    let url = first(&names).filter(|_| !is_this_machine(&judge.base_url))?;
    Some(ProxySettings { url, except: first(&["no_proxy", "NO_PROXY"]) })
}

/// Extra headers of the settings, with values from the environment and files.
pub fn headers(
    judge: &JudgeSettings,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<ExtraHeaders, AppError> {
    let value = |name: &str, source: &HeaderSource| match source {
        HeaderSource::Value(value) => Ok(value.clone()),
        HeaderSource::Variable { env } => variable(env).ok_or_else(|| {
            AppError::invalid(format!(
                "header {name:?} of judge.headers: variable {env} is not set"
            ))
        }),
        HeaderSource::File { file } => std::fs::read_to_string(file).map_err(|error| {
            let file = file.display();
            AppError::invalid(format!(
                "header {name:?} of judge.headers: file {file} cannot be read: {error}"
            ))
        }),
    };
    let pairs = judge.headers.iter().map(|(name, source)| Ok((name.clone(), value(name, source)?)));
    let pairs = pairs.collect::<Result<Vec<_>, AppError>>()?;
    ExtraHeaders::new(pairs)
        .map_err(|error| AppError::invalid(format!("judge.headers in the settings: {error}")))
}

/// True if the host of a URL is `localhost` or a loopback address.
fn is_this_machine(url: &str) -> bool {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => authority.split(':').next(),
    };
    let host = host.unwrap_or_default();
    let is_loopback = |address: std::net::IpAddr| address.is_loopback();
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy_of(base_url: &str, setting: Option<&str>) -> Option<(String, Option<String>)> {
        let judge = JudgeSettings {
            base_url: base_url.to_owned(),
            proxy: setting.map(str::to_owned),
            ..JudgeSettings::default()
        };
        let variables = [
            ("HTTPS_PROXY", "http://secure:1"),
            ("http_proxy", "http://plain:1"),
            ("NO_PROXY", "intranet"),
        ];
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        proxy(&judge, variable).map(|proxy| (proxy.url, proxy.except))
    }

    #[test]
    fn setting_takes_precedence_over_the_environment() {
        let except = Some("intranet".to_owned());
        for (base_url, setting, expected) in [
            ("https://judge.test/v1", None, Some(("http://secure:1".to_owned(), except.clone()))),
            ("http://judge.test/v1", None, Some(("http://plain:1".to_owned(), except))),
            ("http://localhost:8484/v1", None, None),
            ("http://127.0.0.1/v1", None, None),
            ("http://[::1]:8484/v1", None, None),
            ("https://judge.test/v1", Some("none"), None),
            ("http://localhost/v1", Some("http://own:1"), Some(("http://own:1".to_owned(), None))),
        ] {
            assert_eq!(proxy_of(base_url, setting), expected, "{base_url} {setting:?}");
        }
    }
}
