//! Statistics compared with reference implementations: tests/statistics/expected.py computed the
//! figures with SciPy, scikit-learn, statsmodels and krippendorff.

use super::{Agreement, Figure, RaterAgreement, agreement::Paired, ordinal_agreement::Steps};
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    calibration: Vec<Case>,
    raters: Raters,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    judge: Vec<Option<f64>>,
    people: Vec<Option<f64>>,
    least: f64,
    most: f64,
    n: u64,
    confusion: Vec<Vec<u64>>,
    pearson: Option<f64>,
    pearson_interval: Option<[f64; 2]>,
    spearman: Option<f64>,
    kendall: Option<f64>,
    kappa: Option<f64>,
    error: Option<f64>,
    error_interval: Option<[f64; 2]>,
    bias: Option<f64>,
    bias_interval: Option<[f64; 2]>,
    exact: Option<f64>,
    exact_interval: Option<[f64; 2]>,
    adjacent: Option<f64>,
    adjacent_interval: Option<[f64; 2]>,
    bootstrap: Option<Bootstrapped>,
}

#[derive(Deserialize)]
struct Bootstrapped {
    spearman: [f64; 2],
    kendall: [f64; 2],
    kappa: [f64; 2],
}

#[derive(Deserialize)]
struct Raters {
    items: Vec<Vec<f64>>,
    alpha: f64,
    interval: [f64; 2],
}

fn expected() -> Expected {
    serde_json::from_str(include_str!("../../../../tests/statistics/expected.json")).unwrap()
}

fn near(found: Option<f64>, expected: Option<f64>, within: f64, name: &str) {
    let near = match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() <= within,
        (None, None) => true,
        _ => false,
    };
    assert!(near, "{name}: {found:?}, not {expected:?}");
}

/// Figure with an analytic interval.
fn figure(found: &Figure, value: Option<f64>, interval: Option<[f64; 2]>, name: &str) {
    near(found.value, value, 1e-8, name);
    near(found.low, interval.map(|ends| ends[0]), 1e-7, name);
    near(found.high, interval.map(|ends| ends[1]), 1e-7, name);
    assert_eq!(found.reason.is_some(), found.low.is_none(), "{name}: {found:?}");
}

/// Figure with a bootstrap interval, which varies slightly with the random generator.
fn drawn(found: &Figure, value: Option<f64>, interval: Option<[f64; 2]>, name: &str) {
    near(found.value, value, 1e-8, name);
    if let (Some([low, high]), Some(found_low)) = (interval, found.low) {
        let within = 0.06 * (high - low);
        near(Some(found_low), Some(low), within, name);
        near(found.high, Some(high), within, name);
    }
    assert!(interval.is_none() || found.low.is_some(), "{name}: {found:?}");
    assert_eq!(found.reason.is_some(), found.low.is_none(), "{name}: {found:?}");
}

fn paired(case: &Case) -> Paired {
    let mut paired = Paired::default();
    for (judge, people) in case.judge.iter().zip(&case.people) {
        if let Some((judge, people)) = judge.zip(*people) {
            paired.add(judge, people, None);
        }
    }
    paired
}

#[test]
fn human_agreement_matches_scipy_scikit_learn_and_statsmodels() {
    let cases = expected().calibration;
    assert!(cases.len() >= 15);
    for case in cases {
        let steps = Steps { least: case.least, most: case.most, width: 1.0 };
        let found = Agreement::from_pairs(&paired(&case), steps);
        let name = &case.name;
        assert_eq!(found.n, case.n, "{name}");
        assert_eq!(found.confusion.counts, case.confusion, "{name}");
        figure(&found.pearson, case.pearson, case.pearson_interval, name);
        figure(&found.mean_absolute_error, case.error, case.error_interval, name);
        figure(&found.bias, case.bias, case.bias_interval, name);
        figure(&found.exact, case.exact, case.exact_interval, name);
        figure(&found.adjacent, case.adjacent, case.adjacent_interval, name);
        let drawn_by = case.bootstrap.as_ref();
        drawn(&found.spearman, case.spearman, drawn_by.map(|all| all.spearman), name);
        drawn(&found.kendall_tau_b, case.kendall, drawn_by.map(|all| all.kendall), name);
        drawn(&found.weighted_kappa, case.kappa, drawn_by.map(|all| all.kappa), name);
    }
}

#[test]
fn inter_rater_agreement_matches_krippendorff() {
    let Raters { items, alpha, interval } = expected().raters;
    let found = RaterAgreement::from_ratings(&items, &vec![None; items.len()]);
    drawn(&found.alpha, Some(alpha), Some(interval), "raters");
    assert_eq!(found.raters, 3);
    assert_eq!(found.items, items.iter().filter(|ratings| ratings.len() > 1).count() as u64);
    let alone = RaterAgreement::from_ratings(&[vec![7.0]], &[None]);
    assert_eq!(alone.alpha.reason.unwrap(), "no item was rated by two people");
    let alike = RaterAgreement::from_ratings(&[vec![7.0, 7.0]], &[None]);
    assert_eq!(alike.alpha.reason.unwrap(), "all ratings are equal");
}

#[test]
fn undefined_figure_has_a_reason() {
    let steps = Steps { least: 0.0, most: 10.0, width: 1.0 };
    let of = |judge: &[f64], people: &[f64]| {
        let clusters = vec![None; judge.len()];
        Agreement::from_pairs(
            &Paired { judge: judge.to_vec(), people: people.to_vec(), clusters },
            steps,
        )
    };
    let reason = |figure: &Figure| figure.reason.clone().unwrap_or_default();
    let none = of(&[], &[]);
    assert_eq!(reason(&none.pearson), "no item has both a score and a label");
    assert_eq!(reason(&none.bias), reason(&none.pearson));
    let two = of(&[7.0, 8.0], &[7.0, 9.0]);
    assert_eq!(reason(&two.weighted_kappa), "it needs 3 items, and there are 2");
    let constant = of(&[8.0; 4], &[8.0, 7.0, 9.0, 8.0]);
    assert_eq!(reason(&constant.spearman), "the judge's scores are constant");
    assert_eq!(constant.weighted_kappa.value, Some(0.0));
    let alike = of(&[8.0; 4], &[8.0; 4]);
    assert!(reason(&alike.weighted_kappa).contains("the same constant score"));
    assert_eq!((alike.bias.value, alike.bias.low), (Some(0.0), None));
}

#[test]
fn clusters_widen_intervals_of_repeated_items() {
    // Every item five times: the information of twelve items, not of sixty.
    let judge = [9.0, 8.0, 7.0, 9.0, 4.0, 6.0, 8.0, 3.0, 5.0, 9.0, 7.0, 6.0];
    let people = [8.0, 8.0, 6.0, 9.0, 5.0, 7.0, 9.0, 2.0, 6.0, 7.0, 8.0, 4.0];
    let steps = Steps { least: 0.0, most: 10.0, width: 1.0 };
    let of = |times: usize, clustered: bool| {
        let mut paired = Paired::default();
        for (cluster, (judge, people)) in judge.into_iter().zip(people).enumerate() {
            (0..times).for_each(|_| paired.add(judge, people, clustered.then_some(cluster)));
        }
        Agreement::from_pairs(&paired, steps)
    };
    let width = |figure: &Figure| figure.high.unwrap() - figure.low.unwrap();
    let (one, five, clustered) = (of(1, false), of(5, false), of(5, true));
    let drawn = |all: &Agreement| [width(&all.spearman), width(&all.weighted_kappa)];
    for ((one, five), clustered) in drawn(&one).into_iter().zip(drawn(&five)).zip(drawn(&clustered))
    {
        assert!(five < 0.7 * one && (clustered - one).abs() < 0.1, "{one} {five} {clustered}");
    }
    assert!(width(&clustered.pearson) > width(&five.pearson));
    assert!(width(&clustered.exact) > width(&five.exact));
}

/// Correlations published by VIEScore's authors for the same ratings, computed by their own code.
#[test]
fn published_ratings_give_the_published_correlations() {
    let text = include_str!("../../../../tests/statistics/viescore.csv");
    let steps = Steps { least: 0.0, most: 1.0, width: 0.1 };
    for (model, published) in [
        ("Glide", [0.4417, 0.3575]),
        ("BlendedDiffusion", [0.2487, 0.224]),
        ("SDInpaint", [0.5325, 0.3008]),
        ("SDXLInpaint", [0.6185, 0.2853]),
    ] {
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        let rows: Vec<_> = rows.iter().filter(|row| row[0] == model).collect();
        assert_eq!(rows.len(), 179);
        for (measure, published) in published.into_iter().enumerate() {
            let mut paired = Paired::default();
            for row in &rows {
                let value = |column: usize| row[column].parse().unwrap();
                paired.add(value(1 + 2 * measure), value(2 + 2 * measure), None);
            }
            let found = Agreement::from_pairs(&paired, steps).spearman;
            near(found.value, Some(published), 0.000_05, model);
            assert!(found.low < found.value && found.value < found.high, "{model}: {found:?}");
        }
    }
}
