"""Computes intervals.json, what aggregator/analysis/src/metrics/interval.rs is checked against.

Independent of the closed forms there: CR2 and Satterthwaite's degrees of freedom are built from
their general matrix definitions (Bell and McCaffrey 2002; Pustejovsky and Tipton 2018).
Run: pip install numpy scipy statsmodels; python intervals.py > intervals.json
"""

import json

import numpy as np
from scipy import linalg, stats
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW


def clustered(values, clusters):
    y = np.asarray(values, float)
    groups = np.asarray(clusters)
    size = len(y)
    design = np.ones((size, 1))
    bread = np.linalg.inv(design.T @ design)
    hat = design @ bread @ design.T
    mean = float((bread @ design.T @ y)[0])
    residuals = y - mean
    identity = np.eye(size)
    meat, projections = 0.0, []
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        block = identity[np.ix_(rows, rows)] - hat[np.ix_(rows, rows)]
        adjust = np.linalg.inv(linalg.sqrtm(block).real)
        meat += float((design[rows].T @ adjust @ residuals[rows])[0]) ** 2
        projections.append((identity - hat)[:, rows] @ adjust @ design[rows] @ bread)
    variance = float(bread[0, 0] ** 2 * meat)
    stacked = np.hstack(projections)
    gram = stacked.T @ stacked
    degrees = float(np.trace(gram) ** 2 / np.sum(gram**2))
    half = stats.t.ppf(0.975, degrees) * np.sqrt(variance)
    return mean, mean - half, mean + half, degrees


def bounded(values, clusters, bounds):
    """Student's t beside Student's t with a weighted item at either end, by statsmodels' weighted
    statistics over one value for each group that has the clustered variance."""
    mean, low, high, degrees = clustered(values, clusters)
    groups = np.unique(clusters)
    sums = np.array([np.sum(np.asarray(values)[np.asarray(clusters) == group] - mean) for group in groups])
    squares = np.sum(sums**2)
    deviating = squares**2 / np.sum(sums**4) if squares > 1e-18 * len(values) else 0.0
    weight = 16 / (16 + deviating**2)
    error = (high - low) / 2 / stats.t.ppf(0.975, degrees)
    # Any values with this mean and this error of the mean will do.
    unit = np.arange(len(groups)) - (len(groups) - 1) / 2
    stand_in = mean + unit * error / stats.sem(unit)
    ends = []
    for end in bounds:
        weighted = DescrStatsW(np.append(stand_in, end), weights=np.append(np.ones(len(groups)), weight))
        half = stats.t.ppf(0.975, len(groups)) * weighted.std_mean
        ends.append((weighted.mean - half, weighted.mean + half))
    least, most = bounds
    return max(min(low, ends[0][0]), least), min(max(high, ends[1][1]), most)


def clustered_rate(values, clusters):
    mean, low, high, degrees = clustered(values, clusters)
    if len(set(values)) == 1:
        effective = len(set(clusters))
    else:
        error = (high - low) / 2 / stats.t.ppf(0.975, degrees)
        ratio = stats.t.ppf(0.975, len(values) - 1) / stats.t.ppf(0.975, degrees)
        effective = min(mean * (1 - mean) / error**2 * ratio**2, len(values))
    return proportion_confint(mean * effective, effective, alpha=0.05, method="beta")


def case(name, values, clusters=None, rate=False, bounds=None):
    groups = clusters if clusters is not None else list(range(len(values)))
    mean, low, high, degrees = clustered(values, groups)
    if rate and clusters is not None:
        low, high = clustered_rate(values, clusters)
        degrees = None
    elif bounds is not None:
        low, high = bounded(values, groups, bounds)
    elif rate:
        low, high = proportion_confint(sum(values), len(values), alpha=0.05, method="beta")
        degrees = None
    elif clusters is None:
        textbook = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
        assert np.allclose((low, high), textbook)
    return {
        "name": name, "values": values, "clusters": clusters, "rate": rate, "mean": float(mean),
        "low": float(low), "high": float(high), "degrees_of_freedom": degrees, "bounds": bounds,
    }


random = np.random.default_rng(7)
uneven = [0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 3, 3, 4]
print(json.dumps([
    case("two", [0.2, 0.9]),
    case("alone", [0.9, 0.88, 0.7, 0.94, 1.0, 0.86, 0.52, 0.9]),
    case("many", [round(float(x), 4) for x in random.beta(8, 2, 60)]),
    case("even clusters", [8, 9, 10, 7, 7, 6, 9, 9, 10, 4, 5, 6], [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]),
    case("uneven clusters", [round(float(x), 4) for x in random.beta(8, 2, 14)], uneven),
    case("rate", [1, 1, 1, 0, 1, 1, 0, 1, 1, 1], rate=True),
    case("rate of all", [1] * 18, rate=True),
    case("rate of none", [0] * 5, rate=True),
    case("rate in even clusters", [1, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0], [i // 3 for i in range(15)], rate=True),
    case("rate in uneven clusters", [1, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1], uneven, rate=True),
    case("rate of all in clusters", [1] * 14, uneven, rate=True),
    case("bounded, all perfect", [1.0] * 6, bounds=[0, 1]),
    case("bounded, all alike", [7.0] * 10, bounds=[0, 10]),
    case("bounded, all at the least", [1.0] * 8, bounds=[1, 5]),
    case("bounded, one deviates", [1.0] * 9 + [0.9], bounds=[0, 1]),
    case("bounded, one falls far", [10.0] * 19 + [0.0], bounds=[0, 10]),
    case("bounded, two deviate", [9.0] * 18 + [8.0, 4.0], bounds=[0, 10]),
    case("bounded, interior", [round(float(x), 4) for x in random.beta(8, 2, 40)], bounds=[0, 1]),
    case("bounded, two items", [0.2, 0.9], bounds=[0, 1]),
    case("bounded, even clusters", [8, 9, 10, 7, 7, 6, 9, 9, 10, 4, 5, 6], [i // 3 for i in range(12)], bounds=[0, 10]),
    case("bounded, uneven clusters", [round(float(x), 4) for x in random.beta(30, 1, 14)], uneven, bounds=[0, 1]),
    case("bounded, clusters alike", [1.0] * 14, uneven, bounds=[0, 1]),
], indent=1))
