//! Gate files that are refused.

use super::*;

#[test]
fn invalid_gate_is_an_error_with_its_reason() {
    let semantic = rubric(SEMANTIC);
    let folder = tempfile::tempdir().unwrap();
    for (text, wanted) in [
        (
            "schema = 1\nmin_covrage = 1.0",
            "gate.toml:2: min_covrage: unknown key 'min_covrage'; did you mean 'min_coverage'?",
        ),
        ("schema = 2\nnew_key = 1", "schema 2, but this program reads schema 1"),
        ("schema = 1", "it has no rules"),
        ("schema = 1\nmin_coverage = 95", "share from 0 to 1"),
        ("schema = 1\n[[rule]]\nmetric = \"retrieval.accuracy\"", "either above or at_least"),
        ("schema = 1\n[[rule]]\nmetric = \"*\"\nabove = 0.5", "require no_decline = true"),
        (
            "schema = 1\n[[rule]]\nmetric = \"avg_latency_ms\"\nat_least = 10",
            "avg_latency_ms is better when it is lower, so its rule needs at_most",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"retrieval.accuracy\"\nat_most = 0.9",
            "retrieval.accuracy is better when it is higher, so its rule needs above or at_least",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"*\"\nmargin = 0.01",
            "gate.toml:4: rule[1].margin: unknown key 'margin'",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"*\"\nno_decline = true\nanchor_runs = 2",
            "needs anchor_runs from 3 to 200",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"*\"\nno_decline = true\nfalse_alarm_rate = 5",
            "a false_alarm_rate from 0.01 to 0.5",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"*\"\nno_decline = true\nanchor_from = \"../x\"",
            "anchor_from",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"*\"\nabove = 0.5\nno_decline = true",
            "which excludes above",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"avg_latency_ms\"\nno_decline = true",
            "better when it is lower",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"semantic.beauty\"\nno_decline = true",
            "no metric \"semantic.beauty\"",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"semantic.beauty\"\nabove = 1.0",
            "no metric \"semantic.beauty\"",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"retrieval.accuracy\"\nabove = 85",
            "the rule for retrieval.accuracy has above = 85, but retrieval.accuracy ranges from 0 to 1; \
             for 85 % use 0.85",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"semantic.avg_visual_similarity\"\nat_least = 10.5",
            "has at_least = 10.5, but semantic.avg_visual_similarity ranges from 0 to 10",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"semantic.avg_visual_similarity\"\nat_least = 0.85",
            "ranges from 0 to 10; for 85 % of 10 use 8.5",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"retrieval.accuracy\"\nabove = 1.0",
            "use at_least to require the maximum",
        ),
        ("schema = 1\n[[rule]]\nmetric = \"retrieval.accuracy\"\nabove = nan", "above = NaN"),
        ("min_coverage = 1.0", "missing field 'schema'; add it"),
    ] {
        let path = folder.path().join("gate.toml");
        std::fs::write(&path, text).unwrap();
        let error = Gate::load(path.to_str().unwrap(), &semantic).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
    let error = Gate::load("prodution", &semantic).unwrap_err().to_string();
    assert!(error.contains("use `targets`, `production`"), "{error}");
}
