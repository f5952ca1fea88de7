//! Layers, errors and the manual.

use super::*;
use juror_ledger::admission::Budget;
use juror_types::{job::Detail, usage::Money};

fn resolve(text: &str) -> Result<Settings, SettingsError> {
    Settings::resolve(&[Layer::parse(text, "juror.toml")?])
}

#[test]
fn manual_parses_and_holds_the_defaults() {
    let settings = Settings::resolve(&[]).unwrap();
    assert_eq!(settings.judge.model, "gpt-4o");
    assert_eq!(settings.judge.detail, Detail::High);
    assert!(!settings.run.enable_llm_judge);
    assert_eq!(settings.budget.run_usd, None);
}

#[test]
fn commented_keys_of_the_manual_are_valid() {
    let uncommented: String = DEFAULTS
        .lines()
        .map(|line| {
            let rest = line.strip_prefix("# ").unwrap_or(line);
            let is_setting = rest.starts_with("[prices.\"")
                || rest.starts_with("[models.\"")
                || rest.starts_with("[budget.per_")
                || rest == "[[budget.alerts]]"
                || rest.split_once(" = ").is_some_and(|(key, _)| {
                    key.chars().all(|character| character.is_ascii_lowercase() || character == '_')
                });
            if is_setting { format!("{rest}\n") } else { format!("{line}\n") }
        })
        .filter(|line| line != "[prices]\n" && line != "[models]\n")
        .collect();
    let settings = resolve(&uncommented).unwrap();
    assert_eq!(settings.limits.rpm, Some(500));
    assert_eq!(settings.prices.get("my-model").unwrap().input, 2_500_000);
    assert_eq!(settings.models.get("our-deployment").unwrap().like, "gpt-4o");
    assert_eq!(settings.judge.headers.len(), 2);
    assert_eq!(settings.budget.month_usd, "300".parse().ok().map(Budget::Cap));
    assert_eq!(settings.budget.alerts.len(), 2);
    assert_eq!(settings.batch.public_hosts().unwrap().hosts().len(), 1);
    assert_eq!(settings.budget.shared_caps().len(), 4);
    assert_eq!(settings.files.allowed().unwrap().hosts().len(), 3);
}

#[test]
fn an_unknown_key_names_key_file_and_line() {
    let error = resolve("[judge]\nmodel = \"x\"\nmodle = \"y\"\n").unwrap_err().to_string();
    assert!(error.contains("juror.toml:3"), "{error}");
    assert!(error.contains("modle"), "{error}");
}

#[test]
fn header_values_are_never_shown_and_come_from_three_sources() {
    let text = "[judge.headers]\na = \"hidden\"\nb = { env = \"B\" }\nc = { file = \"c.txt\" }\n";
    let settings = resolve(text).unwrap();
    let shown = format!("{:?}", settings.judge.headers);
    assert!(!shown.contains("hidden") && shown.contains("env \"B\""), "{shown}");
    let error = resolve("[judge.headers]\na = 1\n").unwrap_err().to_string();
    assert!(error.contains("{ env = \"VARIABLE\" }"), "{error}");
    let variable = Layer::from_variable("JUROR_JUDGE_HEADERS", "{ api-key = \"hidden\" }").unwrap();
    let settings = Settings::resolve(&[variable]).unwrap();
    assert_eq!(settings.judge.headers.len(), 1);
}

#[test]
fn an_invalid_value_names_its_key() {
    for (text, key) in [
        ("[run]\nrepeat = 0", "run.repeat"),
        ("[run]\nrepeat = 101", "give at most 100"),
        ("[models.\"a\"]\nlike = \"b\"\n[models.\"b\"]\nlike = \"c\"", "models.*.like is \"b\""),
        ("[stages]\ntoken_accuracy = 80.0", "stages.token_accuracy"),
        ("[judge]\ntemperature = -1.0", "judge.temperature"),
        ("[budget]\nrun_usd = \"-1\"", "budget.run_usd"),
        ("[budget]\nday_usd = \"-1\"", "budget.day_usd"),
        ("[budget]\nzone = \"Berlin\"", "\"Berlin\" is not a time zone"),
        ("[files]\nhosts = [\"*\"]", "files.hosts is \"*\""),
        ("[files]\nprivate_hosts = [\"10.0.0.0/8\"]", "files.private_hosts"),
        ("[files]\nbuckets = [\"https://a\"]", "files.buckets"),
        ("[files]\nfetches_per_second_per_host = 0", "files.fetches_per_second_per_host"),
        ("[files]\nfetch_timeout_seconds = 0", "files.fetch_timeout_seconds"),
        ("[files]\ns3_endpoint = \"localhost:5000\"", "files.s3_endpoint"),
        ("[serve]\nmax_concurrent_runs = 0", "serve.max_concurrent_runs"),
        ("[run]\nruns_dir = \"~/runs\"", "run.runs_dir is \"~/runs\": write the folder in full"),
        ("[files]\ndata_roots = [\"shots\", \"~\"]", "files.data_roots is \"~\""),
    ] {
        let error = resolve(text).unwrap_err().to_string();
        assert!(error.contains(key), "{error}");
    }
}

#[test]
fn pauses_of_zero_and_times_beyond_a_year_are_refused() {
    for (text, expected) in [
        ("[batch]\npoll_min = \"0s\"", "batch.poll_min"),
        ("[batch]\npoll_max = \"0s\"", "give at least \"1ms\""),
        ("[batch]\nseal_after = \"0ms\"", "batch.seal_after"),
        ("[batch]\nowner_timeout = \"900ms\"", "give at least \"1s\""),
        ("[batch]\npoll_min = \"9000000000000h\"", "give at most \"8784h\""),
        ("[batch]\nrealtime_reserve = \"8785h\"", "batch.realtime_reserve"),
        ("[judge]\nmax_refusal_minutes = 9000000000000000000", "judge.max_refusal_minutes"),
        ("[fleet]\nconnect_timeout_seconds = 9000000000000000000", "give at most a year"),
        ("[limits]\nmax_concurrency = 4000000000000000000", "give at most 100000"),
    ] {
        let error = resolve(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let shortest = "[batch]\npoll_min = \"1ms\"\npoll_max = \"1ms\"\nrealtime_reserve = \"0s\"";
    resolve(shortest).unwrap();
}

#[test]
fn amounts_parse_from_text_and_numbers() {
    for text in ["run_usd = \"0.25\"", "run_usd = 0.25"] {
        let settings = resolve(&format!("[budget]\n{text}")).unwrap();
        assert_eq!(settings.budget.run_usd.unwrap().to_string(), "0.250000000");
    }
    let zero = resolve("[budget]\nrun_usd = 0").unwrap();
    assert_eq!(zero.budget.run_usd, Some(Money::ZERO));
}

#[test]
fn later_layers_override_only_their_keys() {
    let file = Layer::parse("[judge]\nmodel = \"a\"\ndetail = \"low\"", "juror.toml").unwrap();
    let environment = Layer::from_variable("JUROR_JUDGE_MODEL", "b").unwrap();
    let settings = Settings::resolve(&[file, environment]).unwrap();
    assert_eq!(settings.judge.model, "b");
    assert_eq!(settings.judge.detail, Detail::Low);
}

#[test]
fn unknown_environment_variable_is_an_error() {
    let error = Layer::from_variable("JUROR_JUDGE_MODLE", "b").unwrap_err().to_string();
    assert!(error.contains("JUROR_JUDGE_MODLE"), "{error}");
    assert!(Layer::from_variable("JUROR_LIMITS_RPM", "many").is_err());
    assert!(Layer::from_variable("JUROR_LIMITS_RPM", "500").is_ok());
}

#[test]
fn other_schema_is_refused_with_both_versions() {
    let error = resolve("schema = 2").unwrap_err().to_string();
    assert!(error.contains('2') && error.contains('1'), "{error}");
}

#[test]
fn daily_cap_is_an_amount_or_a_keyword_that_lifts_it() {
    let day = |value: &str| resolve(&format!("[budget]\nday_usd = {value}\n"));
    let cap = |text: &str| text.parse().ok().map(Budget::Cap);
    assert_eq!(day("\"2.5\"").unwrap().budget.day_usd, cap("2.5"));
    assert_eq!(day("2").unwrap().budget.day_usd, cap("2"));
    assert_eq!(day("0.5").unwrap().budget.day_usd, cap("0.5"));
    assert_eq!(day("\"unlimited\"").unwrap().budget.day_usd, Some(Budget::Unlimited));
    assert_eq!(Settings::resolve(&[]).unwrap().budget.day_usd, None);
    let layer = Layer::from_variable("JUROR_BUDGET_MONTH_USD", "unlimited").unwrap();
    assert_eq!(Settings::resolve(&[layer]).unwrap().budget.month_usd, Some(Budget::Unlimited));
    for wrong in ["\"none\"", "true", "\"\""] {
        assert!(day(wrong).unwrap_err().to_string().contains("juror.toml:2"), "{wrong}");
    }
}
