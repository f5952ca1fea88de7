//! Warnings of `juror rubric check` about a rubric that can be used.

use juror_types::rubric::{Anchor, Rubric, Scale, Success, builtin};

/// All warnings about a rubric; `checked` are those of the same command before it.
pub(super) fn warnings(rubric: &Rubric, checked: &[Rubric]) -> Vec<String> {
    let whole = [truncated(rubric), always_passed(rubric), same_name(rubric, checked)];
    let common = left_out("anchors", &rubric.anchors, rubric.scale);
    let own = rubric.criteria.iter().filter_map(|criterion| {
        let list = format!("anchors of criterion {:?}", criterion.key);
        left_out(&list, &criterion.anchors, rubric.scale)
    });
    whole.into_iter().flatten().chain(common).chain(own).collect()
}

fn truncated(rubric: &Rubric) -> Option<String> {
    let (limit, needed) = (rubric.max_output_tokens, rubric.needed_output_tokens());
    (limit < needed).then(|| {
        format!(
            "max_output_tokens = {limit} is less than a full reply needs, about {needed} tokens: \
             replies would be truncated and requested again; raise the limit, or lower findings.max"
        )
    })
}

/// Warning about a bound of success that the worst scores meet, on a scale that begins above 0.
fn always_passed(rubric: &Rubric) -> Option<String> {
    let Scale { min, max } = rubric.scale;
    let least = f64::from(min) / f64::from(max);
    let (key, bound) = match rubric.success {
        Success::Above(bound) => ("above", bound),
        Success::AtLeast(bound) => ("at_least", bound),
    };
    rubric.success.passes(least).then(|| {
        format!(
            "success = {{ {key} = {bound} }} is met by the worst scores: {min} of {max} everywhere \
             is {least:.2} on a scale of 0 to 1; raise the bound"
        )
    })
}

fn same_name(rubric: &Rubric, checked: &[Rubric]) -> Option<String> {
    let same_name = |other: &Rubric| other.name() == rubric.name() && other.digest != rubric.digest;
    let builtin: Vec<Rubric> = builtin().iter().filter_map(|one| one.parse().ok()).collect();
    checked.iter().chain(&builtin).any(same_name).then(|| {
        format!(
            "another rubric with a different text has the name {}: their reports look alike and \
             cannot be compared; change the id or version of this one",
            rubric.name()
        )
    })
}

/// Warning about scores outside all bands. Bands of one score each are marks, between which the
/// judge may interpolate.
fn left_out(list: &str, bands: &[Anchor], scale: Scale) -> Option<String> {
    if bands.iter().all(|band| band.from == band.to) {
        return None;
    }
    let has_band = |score: &u32| bands.iter().any(|band| (band.from..=band.to).contains(score));
    let mut missing = (scale.min..=scale.max).filter(|score| !has_band(score));
    let first = missing.next()?;
    let more = match missing.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "{list}: no band has the score {first}{more}, so the judge is not told what it means; \
         extend a band"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_between_bands_are_warned_of_unless_bands_are_marks() {
        let found = |bands: &[(u32, u32)]| {
            let band = |&(from, to)| Anchor { from, to, means: "-".to_owned() };
            let bands: Vec<Anchor> = bands.iter().map(band).collect();
            left_out("anchors", &bands, Scale { min: 1, max: 5 })
        };
        assert!(found(&[(4, 5), (1, 2)]).unwrap().starts_with("anchors: no band has the score 3,"));
        assert!(found(&[(3, 4)]).unwrap().contains("the score 1 and 2 more"));
        for sound in [&[][..], &[(3, 5), (1, 2)], &[(5, 5), (3, 3), (1, 1)]] {
            assert_eq!(found(sound), None, "{sound:?}");
        }
    }
}
