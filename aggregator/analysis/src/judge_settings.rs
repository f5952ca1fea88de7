//! Settings of a judge that change its scores.

use juror_types::job::Judge;

/// Differing settings of two judges: name and both values.
pub(crate) fn judge_settings_that_differ(
    base: &Judge,
    head: &Judge,
) -> Vec<(&'static str, String, String)> {
    let temperature = |judge: &Judge| {
        judge.temperature.map_or_else(|| "none".to_owned(), |value| value.to_string())
    };
    let name = |judge: &Judge| format!("{} {}", judge.provider.name(), judge.model);
    let output = |judge: &Judge| judge.max_output_tokens.to_string();
    let stripped = |judge: &Judge| judge.strip_comments.to_string();
    [
        ("judge", name(base), name(head)),
        ("temperature", temperature(base), temperature(head)),
        ("detail", base.detail.name().to_owned(), head.detail.name().to_owned()),
        ("max_output_tokens", output(base), output(head)),
        ("strip_comments", stripped(base), stripped(head)),
    ]
    .into_iter()
    .filter(|(_, base, head)| base != head)
    .collect()
}
