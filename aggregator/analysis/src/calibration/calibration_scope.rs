//! Scope of a calibration: a judge, a rubric and a preparation of images, identified by a digest.

use crate::judge_settings::judge_settings_that_differ;
use juror_types::{
    SCHEMA,
    evidence::EvidenceMode,
    id::Digest,
    job::{Judge, RubricReference},
    run::{Preparation, RunRecord},
};
use serde::{Deserialize, Serialize};

/// Settings that may change the score of a screenshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationScope {
    /// Digest of the other fields: equal for runs that were judged alike.
    pub digest: Digest,
    /// Provider, model and sampling.
    pub judge: Judge,
    /// The rubric; its digest counts.
    pub rubric: RubricReference,
    /// Preparation of images; `None` in records of earlier versions.
    pub preparation: Option<Preparation>,
    /// Longest side to which images were shrunk, if the user set one.
    pub max_side: Option<u32>,
    /// Measured evidence that the judge receives.
    #[serde(default, skip_serializing_if = "EvidenceMode::is_none")]
    pub evidence: EvidenceMode,
    /// True for the simulator.
    pub simulated: bool,
}

impl CalibrationScope {
    /// The scope of a run; `None` with the judge off.
    pub fn for_run(record: &RunRecord, simulated: bool) -> Option<Self> {
        let unbound = Self {
            digest: Digest::default(),
            judge: record.judge.clone()?,
            rubric: record.rubric.clone(),
            preparation: record.preparation,
            max_side: record.max_side,
            evidence: record.evidence,
            simulated,
        };
        Some(Self { digest: unbound.compute(), ..unbound })
    }

    /// True if the digest matches the other fields, so that the file was not edited.
    pub fn is_sound(&self) -> bool {
        self.digest == self.compute()
    }

    /// Differences from `now`, each with both values.
    pub fn changes(&self, now: &Self) -> Vec<String> {
        let preparation = |scope: &Self| {
            scope.preparation.map_or_else(|| "not known".to_owned(), |known| known.to_string())
        };
        let side = |scope: &Self| {
            scope.max_side.map_or_else(|| "not set".to_owned(), |pixels| pixels.to_string())
        };
        let scores = |scope: &Self| match scope.simulated {
            true => "the simulator's".to_owned(),
            false => "a judge's".to_owned(),
        };
        let mut pairs = judge_settings_that_differ(&self.judge, &now.judge);
        pairs.extend([
            ("rubric", self.rubric.label(), now.rubric.label()),
            ("image preparation", preparation(self), preparation(now)),
            ("image.max_side", side(self), side(now)),
            ("evidence", self.evidence.name().to_owned(), now.evidence.name().to_owned()),
            ("scores", scores(self), scores(now)),
        ]);
        let differs = pairs.into_iter().filter(|(_, then, now)| then != now);
        differs
            .map(|(what, then, now)| format!("{what}: {then} at calibration, {now} now"))
            .collect()
    }

    fn compute(&self) -> Digest {
        let identity = Identity {
            schema: SCHEMA,
            judge: &self.judge,
            rubric: self.rubric.digest,
            preparation: self.preparation,
            max_side: self.max_side,
            evidence: self.evidence,
            simulated: self.simulated,
        };
        let json = serde_json::to_vec(&identity);
        debug_assert!(json.is_ok(), "memory takes every text and number");
        Digest::from_content(&json.unwrap_or_default())
    }
}

#[derive(Serialize)]
struct Identity<'a> {
    schema: u32,
    judge: &'a Judge,
    rubric: Digest,
    preparation: Option<Preparation>,
    max_side: Option<u32>,
    // Absent without evidence, so that calibrations from before it keep their digest.
    #[serde(skip_serializing_if = "EvidenceMode::is_none")]
    evidence: EvidenceMode,
    simulated: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_fixtures::{SEMANTIC, record};
    use juror_types::job::Detail;

    #[test]
    fn any_input_that_changes_a_score_changes_the_digest_and_is_named() {
        let known = record(SEMANTIC, 1);
        let bound = |record: &RunRecord| CalibrationScope::for_run(record, false).unwrap();
        let then = bound(&known);
        assert!(then.is_sound() && then.changes(&then).is_empty());
        let elsewhere = RunRecord { base_url: None, repeat: 3, planned: 9, ..known.clone() };
        assert_eq!(bound(&elsewhere), then, "where, how often and how much is no judge");
        let judge = known.judge.clone().unwrap();
        let judged = |judge: Judge| RunRecord { judge: Some(judge), ..known.clone() };
        let preparation = Some(Preparation { version: 2, max_bytes: 1, max_side: 1 });
        let rubric =
            RubricReference { digest: Digest::from_content(b"other"), ..known.rubric.clone() };
        for (now, word) in [
            (
                judged(Judge { model: "gpt-5".into(), ..judge.clone() }),
                "judge: openai gpt-4o at calibration",
            ),
            (
                judged(Judge { temperature: None, ..judge.clone() }),
                "temperature: 0.1 at calibration, none now",
            ),
            (judged(Judge { detail: Detail::Low, ..judge.clone() }), "detail"),
            (judged(Judge { max_output_tokens: 7, ..judge }), "max_output_tokens"),
            (RunRecord { rubric, ..known.clone() }, "rubric: semantic@1 ("),
            (
                RunRecord { preparation, ..known.clone() },
                "image preparation: not known at calibration",
            ),
            (
                RunRecord { max_side: Some(640), ..known.clone() },
                "image.max_side: not set at calibration",
            ),
            (
                RunRecord { evidence: EvidenceMode::Full, ..known.clone() },
                "evidence: none at calibration, full now",
            ),
        ] {
            let now = bound(&now);
            assert_ne!(now.digest, then.digest, "{word}");
            let changes = then.changes(&now);
            assert!(changes.len() == 1 && changes[0].contains(word), "{changes:?}");
        }
        let simulated = CalibrationScope::for_run(&known, true).unwrap();
        assert_eq!(
            then.changes(&simulated),
            ["scores: a judge's at calibration, the simulator's now"]
        );
        assert_ne!(simulated.digest, then.digest);
        assert!(!CalibrationScope { simulated: true, ..then }.is_sound());
        assert!(CalibrationScope::for_run(&RunRecord { judge: None, ..known }, false).is_none());
    }
}
