//! Smallest detectable difference of a comparison, and numbers of items for more power.

use statrs::{
    distribution::{ContinuousCDF, Normal, StudentsT},
    function::gamma::ln_gamma,
};

/// Power of a test.
const POWER: f64 = 0.8;
/// Twice the chance of an alarm where there is none, on either side.
const UPPER: f64 = 0.975;
/// Degrees of freedom above which Student's t is treated as normal.
const MIN_NORMAL_DEGREES: f64 = 10_000.0;
/// Steps of the integral, an even number.
const STEPS: u32 = 800;
/// Maximum number of items that is reported.
const MAX: f64 = 1e9;

/// The smallest true difference that a two-sided test at 5 % finds with a power of 80 %, from the
/// standard error of the mean difference and its degrees of freedom: by the noncentral t
/// distribution, as `TTestPower` of statsmodels has it.
pub(crate) fn detectable(standard_error: f64, degrees_of_freedom: f64) -> Option<f64> {
    if standard_error <= 0.0 {
        return None;
    }
    // Two groups have one; sums may round it to a little less, where the density has a pole.
    let degrees_of_freedom = degrees_of_freedom.max(1.0);
    let critical = StudentsT::new(0.0, 1.0, degrees_of_freedom).ok()?.inverse_cdf(UPPER);
    let (mut low, mut high) = (0.0, 10.0 * critical);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if power(middle, critical, degrees_of_freedom) < POWER {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high * standard_error)
}

/// Number of items that show, with a power of 80 %, that a mean is this far from a bound, where
/// single items have this deviation: ((z₀.₉₇₅ + z₀.₈) · deviation / distance)².
pub(crate) fn items_needed(deviation: f64, distance: f64) -> Option<u64> {
    let normal = Normal::standard();
    let sum = normal.inverse_cdf(UPPER) + normal.inverse_cdf(POWER);
    let items = (sum * deviation / distance).powi(2).ceil();
    (items.is_finite() && items <= MAX).then_some(items as u64)
}

/// The largest standard error with which a distance from a bound is detected with a power of 80 %.
pub(crate) fn error_needed(distance: f64) -> f64 {
    let normal = Normal::standard();
    distance / (normal.inverse_cdf(UPPER) + normal.inverse_cdf(POWER))
}

/// The chance that |T| exceeds the critical value, T noncentral t: T = (Z + shift) / S, with Z
/// standard normal and S² a chi-squared over its degrees of freedom. Integrated over S (Simpson).
fn power(shift: f64, critical: f64, degrees: f64) -> f64 {
    let normal = Normal::standard();
    let beyond = |s: f64| normal.cdf(shift - critical * s) + normal.cdf(-shift - critical * s);
    if degrees > MIN_NORMAL_DEGREES {
        return beyond(1.0);
    }
    let half = degrees / 2.0;
    let constant = 2.0_f64.ln() + half * half.ln() - ln_gamma(half);
    let density = |s: f64| {
        // The logarithm of 0 to the power of 0.
        let root = if degrees > 1.0 { (degrees - 1.0) * s.ln() } else { 0.0 };
        (constant + root - half * s * s).exp()
    };
    let reach = 9.0 / (2.0 * degrees).sqrt();
    let (least, most) = ((1.0 - reach).max(0.0), 1.0 + reach);
    let width = (most - least) / f64::from(STEPS);
    let weight = |step: u32| match step {
        0 | STEPS => 1.0,
        odd if !odd.is_multiple_of(2) => 4.0,
        _ => 2.0,
    };
    let terms = (0..=STEPS).map(|step| {
        let s = least + width * f64::from(step);
        weight(step) * density(s) * beyond(s)
    });
    terms.sum::<f64>() * width / 3.0
}
