"""Computes expected.json, which the statistics of comparisons, repeats and calibrations are checked
against.

Everything here comes from an implementation that is not Juror's: SciPy, scikit-learn, statsmodels,
pingouin and krippendorff. The one exception is the clustered variance (CR2 with Satterthwaite's degrees of
freedom), which is built from its general matrix definition (Bell and McCaffrey 2002; Pustejovsky
and Tipton 2018), since none of these has it; where every item is a cluster of its own, it is
checked against SciPy here.

Run: pip install -r requirements.txt; python expected.py > expected.json
"""

import json
import warnings

import krippendorff
import numpy as np
import pandas
import pingouin
from scipy import linalg, optimize, stats
from sklearn.metrics import cohen_kappa_score, confusion_matrix, mean_absolute_error
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower, TTestPower
from statsmodels.stats.proportion import proportion_confint

random = np.random.default_rng(11)


def finite(value):
    value = float(value)
    return value if np.isfinite(value) else None


def clustered_error(differences, clusters):
    """Standard error and degrees of freedom of a mean by CR2, from matrices."""
    y, groups = np.asarray(differences, float), np.asarray(clusters)
    size = len(y)
    design = np.ones((size, 1))
    bread = np.linalg.inv(design.T @ design)
    hat = design @ bread @ design.T
    residuals, identity = y - y.mean(), np.eye(size)
    meat, projections = 0.0, []
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        adjust = np.linalg.inv(linalg.sqrtm(identity[np.ix_(rows, rows)] - hat[np.ix_(rows, rows)]).real)
        meat += float((design[rows].T @ adjust @ residuals[rows])[0]) ** 2
        projections.append((identity - hat)[:, rows] @ adjust @ design[rows] @ bread)
    stacked = np.hstack(projections)
    gram = stacked.T @ stacked
    degrees = float(np.trace(gram) ** 2 / np.sum(gram**2))
    return float(np.sqrt(bread[0, 0] ** 2 * meat)), degrees


def paired(name, base, head, clusters=None):
    kept = [i for i, (b, h) in enumerate(zip(base, head)) if b is not None and h is not None]
    b = np.array([base[i] for i in kept], float)
    h = np.array([head[i] for i in kept], float)
    n = len(kept)
    case = {"name": name, "base": base, "head": head, "clusters": clusters, "n": n}
    case |= dict.fromkeys(["difference", "low", "high", "p_value", "effect_size", "detectable"])
    if n == 0:
        return case
    case["difference"] = float((h - b).mean())
    # What is constant has no test in the textbook; Juror's own rule for it is tested in Rust.
    if n == 1 or np.allclose(h - b, (h - b)[0]):
        return case
    deviation = (h - b).std(ddof=1)
    case["effect_size"] = float(case["difference"] / deviation)
    test = stats.ttest_rel(h, b)
    if clusters is None:
        ends = test.confidence_interval(0.95)
        case["low"], case["high"], case["p_value"] = float(ends.low), float(ends.high), float(test.pvalue)
        error, degrees = clustered_error(h - b, range(n))
        assert np.isclose(error, stats.sem(h - b)) and np.isclose(degrees, n - 1)
        smallest = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8, alternative="two-sided")
        case["detectable"] = float(smallest * deviation)
        one = pingouin.ttest(h, b, paired=True)
        assert np.isclose(case["p_value"], one["p_val" if "p_val" in one else "p-val"].iloc[0])
        # pingouin's d_z of a one-sample comparison of the differences with 0.
        assert np.isclose(case["effect_size"], pingouin.compute_effsize(h - b, 0, eftype="cohen"))
    else:
        error, degrees = clustered_error(h - b, [clusters[i] for i in kept])
        half = stats.t.ppf(0.975, degrees) * error
        case["low"], case["high"] = case["difference"] - half, case["difference"] + half
        case["p_value"] = float(2 * stats.t.sf(abs(case["difference"]) / error, degrees))
        critical = stats.t.ppf(0.975, degrees)

        def power(shift):
            # SciPy has no figure for the far tail where it is next to nothing.
            far = np.nan_to_num(stats.nct.cdf(-critical, degrees, shift))
            return stats.nct.sf(critical, degrees, shift) + far

        case["detectable"] = float(optimize.brentq(lambda shift: power(shift) - 0.8, 0, 3 * critical) * error)
    return case


def paired_cases():
    def scores(n):
        return [round(float(x), 2) for x in random.integers(20, 51, n) / 50]

    def moved(values, shift, noise):
        steps = random.normal(shift, noise, len(values))
        return [round(float(min(1, max(0, v + s))) * 50) / 50 for v, s in zip(values, steps)]

    small, large = scores(12), scores(150)
    with_ties = [0.9, 0.9, 0.9, 0.8, 0.8, 0.8, 0.7, 0.7]
    gaps = [None if i % 5 == 2 else v for i, v in enumerate(scores(20))]
    uneven = sorted(int(x) for x in random.integers(0, 9, 40))
    forty = scores(40)
    return [
        paired("none", [], []),
        paired("one", [0.8], [0.7]),
        paired("two", [0.8, 0.9], [0.7, 0.94]),
        paired("three", [0.8, 0.9, 0.7], [0.7, 0.94, 0.7]),
        paired("small", small, moved(small, -0.03, 0.08)),
        paired("large", large, moved(large, 0.01, 0.1)),
        paired("ties", with_ties, [0.9, 0.9, 0.8, 0.8, 0.8, 0.7, 0.7, 0.7]),
        paired("missing values", gaps, [None if i % 7 == 3 else v for i, v in enumerate(scores(20))]),
        paired("all missing", [None, 0.5], [0.5, None]),
        paired("constant columns", [0.9] * 6, [0.9] * 6),
        paired("constant base", [8.0] * 5, [8.0, 9.0, 7.0, 7.0, 6.0]),
        paired("uneven clusters", forty, moved(forty, -0.02, 0.08), uneven),
        paired("two clusters", [0.8, 0.9, 0.7, 0.8], [0.7, 0.9, 0.8, 0.9], [0, 0, 0, 1]),
        paired("clusters with missing values", [None] + forty[1:], moved(forty, 0.05, 0.05), uneven),
    ]


def mcnemar_cases():
    tables = [(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (5, 2, 1, 0), (40, 9, 1, 3), (40, 1, 9, 3),
              (10, 4, 4, 10), (900, 30, 55, 15), (50_000, 1_200, 1_000, 47_800)]
    return [
        {"both": a, "only_base": b, "only_head": c, "neither": d,
         "p_value": float(mcnemar([[a, b], [c, d]], exact=True).pvalue)}
        for a, b, c, d in tables
    ]


def holm_cases():
    families = [[], [0.03], [0.01, 0.04], [0.01, 0.04, 0.03, 0.005, 0.5], [0.02, 0.02, 0.02],
                [1.0, 0.9, 0.0], [round(float(x), 6) for x in random.beta(0.5, 2, 20)]]
    return [
        {"p_values": family,
         "adjusted": [float(x) for x in multipletests(family, method="holm")[1]] if family else []}
        for family in families
    ]


def power_cases():
    detectable = [
        {"n": n, "effect_size": float(
            TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8, alternative="two-sided"))}
        for n in [3, 4, 5, 10, 20, 50, 200, 1_000, 5_000]
    ]
    items = [
        {"deviation": s, "distance": h, "items": float(NormalIndPower().solve_power(
            effect_size=h / s, alpha=0.05, power=0.8, ratio=0, alternative="two-sided"))}
        for s, h in [(0.08, 0.02), (0.1, 0.005), (0.05, 0.03), (1.2, 0.1)]
    ]
    return {"detectable": detectable, "items": items}


def agreement(name, items):
    """`items` hold each item's values; an item that was judged once tells nothing of repeats."""
    several = [values for values in items if len(values) >= 2]
    case = {"name": name, "items": items, "n": len(several)}
    case |= dict.fromkeys(["alpha", "noise_share", "noise_deviation"])
    if not several:
        return case
    widest = max(len(values) for values in several)
    table = np.array([v + [np.nan] * (widest - len(v)) for v in several], float).T
    if len(np.unique(table[~np.isnan(table)])) > 1:
        case["alpha"] = finite(krippendorff.alpha(table, level_of_measurement="interval"))
    long = pandas.DataFrame(
        [(i, r, v) for i, values in enumerate(several) for r, v in enumerate(values)],
        columns=["item", "judge", "score"])
    if len(several) < 2 or long["score"].nunique() == 1:
        return case
    fit = anova_lm(ols("score ~ C(item)", long).fit())
    between, within = fit["mean_sq"].iloc[0], fit["mean_sq"].iloc[1]
    sizes = np.array([len(values) for values in several], float)
    size = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (len(sizes) - 1)
    real = max(0.0, (between - within) / size)
    case["noise_deviation"] = finite(np.sqrt(within))
    case["noise_share"] = finite(within / (within + real))
    # pingouin wants five values.
    if len(set(sizes)) == 1 and len(long) >= 5 and between >= within > 0:
        table = pingouin.intraclass_corr(long, targets="item", raters="judge", ratings="score")
        kind = table["Type"].isin(["ICC1", "ICC(1,1)"])
        assert np.isclose(1 - table.loc[kind, "ICC"].iloc[0], case["noise_share"])
    return case


def agreement_cases():
    def judged(items, repeats, real, noise):
        truth = random.normal(7, real, items)
        return [[float(round(min(10, max(0, t + e)))) for e in random.normal(0, noise, repeats)] for t in truth]

    uneven = judged(15, 4, 2, 1)
    return [
        agreement("none", []),
        agreement("once each", [[1.0], [2.0]]),
        agreement("one item", [[7.0, 8.0, 9.0]]),
        agreement("two items", [[7.0, 8.0], [3.0, 3.0]]),
        agreement("perfect", [[7.0, 7.0], [3.0, 3.0], [9.0, 9.0]]),
        agreement("constant", [[7.0, 7.0], [7.0, 7.0]]),
        agreement("noise alone", [[1.0, 9.0], [9.0, 1.0], [5.0, 5.0], [2.0, 8.0]]),
        agreement("five judgments", judged(30, 5, 2, 0.8)),
        agreement("pairs", judged(60, 2, 1.5, 1.5)),
        agreement("missing values", [v[: 1 + i % 4] for i, v in enumerate(uneven)]),
    ]


def bootstrapped(statistic, *columns):
    """The percentile bootstrap with many more resamples than Juror takes."""
    result = stats.bootstrap(columns, statistic, paired=True, vectorized=False, method="percentile",
                             n_resamples=20_000, rng=np.random.default_rng(5))
    low, high = result.confidence_interval
    return [finite(low), finite(high)]


def calibrated(name, judge, people, least=0, most=10, bootstrap=False):
    """`judge` and `people` hold each item's mean; what lacks either is left out."""
    both = [(j, p) for j, p in zip(judge, people) if j is not None and p is not None]
    x, y = (np.array([pair[side] for pair in both], float) for side in (0, 1))
    n = len(both)
    case = {"name": name, "judge": judge, "people": people, "least": least, "most": most, "n": n}
    # A table of whole steps, half-way values at the upper one.
    steps = np.arange(least, most + 1)
    a, b = (np.floor(np.round(values, 9) + 0.5).astype(int) for values in (x, y))
    case["confusion"] = confusion_matrix(b, a, labels=steps).tolist() if n else np.zeros((len(steps),) * 2, int).tolist()
    case |= dict.fromkeys(["pearson", "pearson_interval", "spearman", "kendall", "kappa", "error",
                           "error_interval", "bias", "bias_interval", "exact", "exact_interval",
                           "adjacent", "adjacent_interval", "bootstrap"])
    if n == 0:
        return case
    case["error"] = float(mean_absolute_error(y, x))
    case["bias"] = float(np.mean(x - y))
    for key, values in [("error", np.abs(x - y)), ("bias", x - y)]:
        if n > 1 and values.std() > 1e-9:
            ends = stats.ttest_1samp(values, 0).confidence_interval(0.95)
            width = most - least
            ends = np.clip([ends.low, ends.high], 0 if key == "error" else -width, width)
            case[key + "_interval"] = [float(end) for end in ends]
    for key, apart in [("exact", 0), ("adjacent", 1)]:
        hits = int((np.abs(a - b) <= apart).sum())
        case[key] = hits / n
        case[key + "_interval"] = [float(end) for end in proportion_confint(hits, n, method="beta")]
    if n < 3:
        return case
    case["kappa"] = finite(cohen_kappa_score(a, b, weights="quadratic", labels=steps))
    if x.std() == 0 or y.std() == 0:
        return case
    test = stats.pearsonr(x, y)
    case["pearson"] = float(test.statistic)
    if n > 3 and abs(test.statistic) < 1 - 1e-9:
        case["pearson_interval"] = [float(end) for end in test.confidence_interval(0.95)]
    case["spearman"] = float(stats.spearmanr(x, y).statistic)
    case["kendall"] = float(stats.kendalltau(x, y).statistic)
    if bootstrap:
        kappa = lambda one, other: cohen_kappa_score(one, other, weights="quadratic", labels=steps)
        case["bootstrap"] = {
            "spearman": bootstrapped(lambda one, other: stats.spearmanr(one, other).statistic, x, y),
            "kendall": bootstrapped(lambda one, other: stats.kendalltau(one, other).statistic, x, y),
            "kappa": bootstrapped(kappa, a, b),
        }
    return case


def calibration_cases():
    def rated(n, raters, noise, bias=0.0, least=0, most=10):
        truth = random.normal(least + 0.7 * (most - least), 0.18 * (most - least), n)
        within = lambda values: [round(float(min(most, max(least, v)))) for v in values]
        judge = within(truth + bias + random.normal(0, noise, n))
        people = np.mean([within(truth + random.normal(0, 0.8, n)) for _ in range(raters)], axis=0)
        return [float(v) for v in judge], [float(v) for v in people]

    gaps = rated(30, 2, 1.0)
    repeated = rated(25, 1, 1.0)
    return [
        calibrated("none", [], []),
        calibrated("none in common", [7.0, None], [None, 8.0]),
        calibrated("one", [7.0], [8.0]),
        calibrated("two", [7.0, 9.0], [8.0, 8.5]),
        calibrated("three", [7.0, 9.0, 4.0], [8.0, 8.5, 6.0]),
        calibrated("four on a line", [1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 5.0, 6.0]),
        calibrated("constant judge", [8.0] * 5, [8.0, 7.0, 9.0, 6.0, 8.0]),
        calibrated("constant people", [8.0, 7.0, 9.0, 6.0, 8.0], [8.0] * 5),
        calibrated("both constant, apart", [8.0] * 4, [7.0] * 4),
        calibrated("both constant, alike", [8.0] * 4, [8.0] * 4),
        calibrated("ties", [9.0, 9.0, 9.0, 8.0, 8.0, 7.0, 7.0, 7.0], [9.0, 8.0, 8.0, 8.0, 7.0, 7.0, 7.0, 9.0]),
        calibrated("against each other", [1.0, 3.0, 5.0, 7.0, 9.0], [9.0, 8.0, 5.0, 5.0, 0.0]),
        calibrated("halves", [7.0, 8.0, 8.0, 3.0, 10.0], [6.5, 7.5, 8.5, 3.5, 9.5]),
        calibrated("missing values", [None if i % 5 == 2 else v for i, v in enumerate(gaps[0])],
                   [None if i % 7 == 3 else v for i, v in enumerate(gaps[1])]),
        calibrated("judged several times", [v + float(s) for v, s in zip(repeated[0], random.integers(-1, 2, 25) / 3)],
                   repeated[1]),
        calibrated("forty", *rated(40, 3, 1.2, 0.8), bootstrap=True),
        calibrated("two hundred", *rated(200, 1, 2.0), bootstrap=True),
        calibrated("one to five", *rated(60, 2, 0.7, -0.3, 1, 5), 1, 5, bootstrap=True),
    ]


def rater_cases():
    truth = random.normal(7, 2, 40)
    rated = [[float(round(min(10, max(0, t + e)))) for e in random.normal(0, 1, 1 + i % 3)] for i, t in enumerate(truth)]
    several = [values for values in rated if len(values) > 1]
    columns = np.array([v + [np.nan] * (3 - len(v)) for v in several], float)
    alpha = lambda *raters: krippendorff.alpha(np.array(raters), level_of_measurement="interval")
    return {"items": rated, "alpha": finite(alpha(*columns.T)), "interval": bootstrapped(alpha, *columns.T)}


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(json.dumps({
        "paired": paired_cases(), "mcnemar": mcnemar_cases(), "holm": holm_cases(),
        "power": power_cases(), "agreement": agreement_cases(), "calibration": calibration_cases(), "raters": rater_cases(),
    }, indent=1))
