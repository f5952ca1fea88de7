"""Computes intervals.json, what aggregator/src/metrics/interval.rs is checked against.

Independent of the closed forms there: CR2 and Satterthwaite's degrees of freedom are built from
their general matrix definitions (Bell and McCaffrey 2002; Pustejovsky and Tipton 2018).
Run: pip install numpy scipy statsmodels; python intervals.py > intervals.json
"""

import json

import numpy as np
from scipy import linalg, stats
from statsmodels.stats.proportion import proportion_confint


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


def case(name, values, clusters=None, rate=False):
    groups = clusters if clusters is not None else list(range(len(values)))
    mean, low, high, degrees = clustered(values, groups)
    if rate:
        low, high = proportion_confint(sum(values), len(values), alpha=0.05, method="wilson")
        degrees = None
    elif clusters is None:
        textbook = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
        assert np.allclose((low, high), textbook)
    return {
        "name": name, "values": values, "clusters": clusters, "rate": rate, "mean": float(mean),
        "low": float(low), "high": float(high), "degrees_of_freedom": degrees,
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
], indent=1))
