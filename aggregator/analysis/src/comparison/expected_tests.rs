//! Statistics compared with reference implementations: tests/statistics/expected.py computed the
//! figures with SciPy, statsmodels, pingouin and krippendorff.

use super::{power::detectable, power::items_needed, sign_test::Directions, *};
use crate::repeats::Judgments;
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    paired: Vec<Paired>,
    mcnemar: Vec<McNemar>,
    holm: Vec<Holm>,
    power: Power,
    agreement: Vec<Agreed>,
}

#[derive(Deserialize)]
struct Paired {
    name: String,
    base: Vec<Option<f64>>,
    head: Vec<Option<f64>>,
    clusters: Option<Vec<usize>>,
    n: u64,
    difference: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    p_value: Option<f64>,
    effect_size: Option<f64>,
    detectable: Option<f64>,
}

#[derive(Deserialize)]
struct McNemar {
    both: u64,
    only_base: u64,
    only_head: u64,
    neither: u64,
    p_value: f64,
}

#[derive(Deserialize)]
struct Holm {
    p_values: Vec<f64>,
    adjusted: Vec<f64>,
}

#[derive(Deserialize)]
struct Power {
    detectable: Vec<Detectable>,
    items: Vec<Items>,
}

#[derive(Deserialize)]
struct Detectable {
    n: u64,
    effect_size: f64,
}

#[derive(Deserialize)]
struct Items {
    deviation: f64,
    distance: f64,
    items: f64,
}

#[derive(Deserialize)]
struct Agreed {
    name: String,
    items: Vec<Vec<f64>>,
    n: u64,
    alpha: Option<f64>,
    noise_share: Option<f64>,
    noise_deviation: Option<f64>,
}

fn expected() -> Expected {
    serde_json::from_str(include_str!("../../../../tests/statistics/expected.json")).unwrap()
}

#[track_caller]
fn near(found: Option<f64>, expected: Option<f64>, tolerance: f64, what: &str) {
    match (found, expected) {
        (None, None) => {}
        (Some(found), Some(expected)) if (found - expected).abs() <= tolerance => {}
        _ => panic!("{what}: {found:?}, not {expected:?}"),
    }
}

#[test]
fn paired_differences_match_scipy_pingouin_and_statsmodels() {
    let cases = expected().paired;
    assert!(cases.len() >= 14);
    for case in cases {
        let mut pairs = Pairs::default();
        for (position, both) in case.base.iter().zip(&case.head).enumerate() {
            let cluster = case.clusters.as_ref().map(|clusters| clusters[position]);
            if let (Some(base), Some(head)) = both {
                pairs.add(*base, *head, cluster, None);
            }
        }
        let found = pairs.difference(f64::MAX);
        let name = &case.name;
        assert_eq!(found.n, case.n, "{name}");
        near(found.difference, case.difference, 1e-9, name);
        if case.p_value.is_none() {
            // One item, or equal differences: covered by the tests of that rule.
            assert!(found.effect_size_dz.is_none() && found.detectable.is_none(), "{name}");
            continue;
        }
        near(found.low, case.low, 2e-8, name);
        near(found.high, case.high, 2e-8, name);
        near(found.p_value, case.p_value, 1e-8, name);
        near(found.effect_size_dz, case.effect_size, 1e-8, name);
        near(found.detectable, case.detectable, 1e-5, name);
    }
}

#[test]
fn exact_mcnemar_matches_statsmodels() {
    for case in expected().mcnemar {
        let McNemar { both, only_base, only_head, neither, p_value } = case;
        let mut changes = Directions::default();
        (0..only_base).for_each(|_| changes.add(false, None));
        (0..only_head).for_each(|_| changes.add(true, None));
        let table = PassTable { both, only_base, only_head, neither };
        near(Some(changes.p_value()), Some(p_value), 1e-9, &format!("{table:?}"));
    }
}

#[test]
fn adjusted_p_values_match_statsmodels() {
    for case in expected().holm {
        let p_values: Vec<_> = case.p_values.iter().copied().map(Some).collect();
        let found = holm(&p_values);
        assert_eq!(found.len(), case.adjusted.len());
        for (found, expected) in found.into_iter().zip(case.adjusted) {
            near(found, Some(expected), 1e-12, &format!("{p_values:?}"));
        }
    }
    assert_eq!(holm(&[Some(0.03), None, Some(0.02)]), [Some(0.04), None, Some(0.04)]);
}

#[test]
fn detectable_differences_and_item_counts_match_statsmodels() {
    let power = expected().power;
    for Detectable { n, effect_size } in power.detectable {
        let found = detectable((n as f64).sqrt().recip(), n as f64 - 1.0);
        near(found, Some(effect_size), 1e-5, &format!("{n} items"));
    }
    for Items { deviation, distance, items } in power.items {
        let found = items_needed(deviation, distance).unwrap();
        assert!((found as f64 - items).abs() <= 1.0, "{found}, not {items}");
    }
    assert_eq!(items_needed(0.1, 0.0), None);
}

#[test]
fn agreement_matches_krippendorff_pingouin_and_statsmodels() {
    for case in expected().agreement {
        let mut judgments = Judgments::default();
        case.items.iter().for_each(|scores| judgments.add(scores));
        let found = judgments.agreement();
        let name = &case.name;
        assert_eq!(found.items, case.n, "{name}");
        near(found.alpha, case.alpha, 1e-8, name);
        near(found.noise_share, case.noise_share, 1e-8, name);
        if case.noise_deviation.is_some() {
            near(found.noise_deviation, case.noise_deviation, 1e-8, name);
        }
    }
}

#[test]
fn identical_differences_are_judged_by_the_sign_test() {
    let alike = |count: usize, head: f64| {
        let mut pairs = Pairs::default();
        (0..count).for_each(|_| pairs.add(0.5, head, None, None));
        pairs.difference(1.0)
    };
    let ends = |difference: Difference| difference.low.zip(difference.high);
    assert_eq!(ends(alike(1, 0.5)), None);
    assert_eq!(ends(alike(2, 0.5)), Some((0.0, 0.0)));
    assert_eq!(ends(alike(5, 0.3)), None);
    assert_eq!(ends(alike(6, 0.3)), Some((-0.2, -0.2)));
    assert_eq!(alike(5, 0.3).p_value, Some(0.0625));
    assert_eq!(alike(0, 0.3), Difference::default());
}
