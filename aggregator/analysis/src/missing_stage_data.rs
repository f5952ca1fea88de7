//! Warnings about items without data for a deterministic stage: the stage's metric leaves them out,
//! so a pipeline without output would look better than one with wrong output.

use crate::format::{counted, grouped};
use juror_types::{
    outcome::{InputRecord, JobResult, Outcome},
    rubric::{PromptField, Rubric},
};

/// Counts of the items that each stage should cover, and of those without data for it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MissingStageData {
    tokens: StageCount,
    patterns: StageCount,
    code: StageCount,
}

#[derive(Clone, Copy, Debug, Default)]
struct StageCount {
    expected: u64,
    missing: u64,
}

impl MissingStageData {
    /// Adds a current result. Repeats of an item count once; of jobs that failed or were skipped, the
    /// data that they have: their other stages may not have run.
    pub(crate) fn add(&mut self, result: &JobResult) {
        if result.repeat > 0 {
            return;
        }
        let ran = !matches!(result.outcome, Outcome::Failed | Outcome::Skipped);
        let has_input = |name| result.item.input(name).is_some();
        let is_measured = result.token_extraction.is_some();
        if is_measured || ran && has_input(InputRecord::EXPECTED_TOKENS) {
            self.tokens.add(is_measured || has_input(InputRecord::EXTRACTED_TOKENS));
        }
        let is_retrieved = result.retrieval.is_some();
        if is_retrieved || ran && result.item.expected_pattern.is_some() {
            self.patterns.add(is_retrieved);
        }
        let generation = result.generation.as_ref();
        let is_parsed = generation.is_some_and(|stage| stage.code_compiles.is_some());
        // Missing judged output is `no_output`, which has its own warning.
        if is_parsed || ran && result.outcome != Outcome::NoOutput {
            self.code.add(is_parsed);
        }
    }

    /// The warnings. Expected tokens that only the judge sees, and items without code of a rubric
    /// that needs none, are as they should be.
    pub(crate) fn warnings(&self, rubric: &Rubric, judged: bool) -> Vec<String> {
        let for_the_judge = judged && rubric.needs(PromptField::ExpectedTokens);
        let tokens = self.tokens.missing_unless(for_the_judge).map(|count| {
            format!(
                "no extracted tokens for {} that expect some, so {}; where the pipeline extracted \
                 none, write \"extracted_tokens\": {{}}, which counts as 0%",
                count.items(),
                count.basis("Token Accuracy")
            )
        });
        let patterns = self.patterns.missing_unless(false).map(|count| {
            format!(
                "no retrieved pattern for {} that expect one, so {}; where the pipeline \
                 retrieved none, write \"retrieved_pattern\": \"\", which counts as wrong",
                count.items(),
                count.basis("Retrieval")
            )
        });
        let needs_no_code = judged || !rubric.needs(PromptField::GeneratedCode);
        let code = self.code.missing_unless(needs_no_code).map(|count| {
            format!(
                "no generated code for {}, so {}; check whether the pipeline failed for them",
                count.items(),
                count.basis("Compilation")
            )
        });
        tokens.into_iter().chain(patterns).chain(code).collect()
    }
}

impl StageCount {
    fn add(&mut self, has_data: bool) {
        self.expected += 1;
        self.missing += u64::from(!has_data);
    }

    /// Count if items lack data; `all_may` allows all of them to.
    fn missing_unless(self, all_may: bool) -> Option<Self> {
        let is_usual = self.missing == 0 || (all_may && self.missing == self.expected);
        (!is_usual).then_some(self)
    }

    /// `108 of 120 items`.
    fn items(self) -> String {
        format!("{} of {}", grouped(self.missing), counted(self.expected, "item"))
    }

    fn basis(self, title: &str) -> String {
        match self.expected - self.missing {
            0 => format!("{title} has no data"),
            others => format!("{title} is of {} only", counted(others, "item")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_fixtures::{SEMANTIC, bare, broken, rubric, staged};
    use juror_types::outcome::ErrorKind;

    fn expecting(number: u32) -> JobResult {
        let mut result = bare(&format!("i{number}"), Outcome::Scored);
        let tokens = InputRecord::unread(InputRecord::EXPECTED_TOKENS, InputRecord::INLINE);
        result.item.inputs.push(tokens);
        result.item.expected_pattern = Some("button".to_owned());
        result
    }

    fn warnings(
        results: impl IntoIterator<Item = JobResult>,
        needs: &[PromptField],
    ) -> Vec<String> {
        let mut missing = MissingStageData::default();
        results.into_iter().for_each(|result| missing.add(&result));
        let rubric = Rubric { needs: needs.to_vec(), ..rubric(SEMANTIC) };
        missing.warnings(&rubric, true)
    }

    #[test]
    fn items_without_pipeline_output_are_warned_of() {
        let results = (0..108).map(expecting);
        let results = results.chain((0..12).map(|number| staged(&format!("s{number}"))));
        let found = warnings(results, &[PromptField::ExpectedTokens]);
        assert_eq!(found.len(), 3, "{found:?}");
        for (warning, start) in found.iter().zip([
            "no extracted tokens for 108 of 120 items that expect some, so Token Accuracy is of 12 items only; ",
            "no retrieved pattern for 108 of 120 items that expect one, so Retrieval is of 12 items only; ",
            "no generated code for 108 of 120 items, so Compilation is of 12 items only; ",
        ]) {
            assert!(warning.starts_with(start), "{warning}");
        }
    }

    #[test]
    fn pipeline_without_any_output_is_warned_of_unless_the_judge_takes_the_tokens() {
        let all = || (0..3).map(expecting);
        let found = warnings(all(), &[]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("3 of 3 items that expect some"), "{found:?}");
        assert!(found[0].contains("Token Accuracy has no data"), "{found:?}");
        assert_eq!(warnings(all(), &[PromptField::ExpectedTokens]).len(), 1, "the pattern alone");
    }

    #[test]
    fn complete_data_failures_and_repeats_need_no_warning() {
        let none: [String; 0] = [];
        assert_eq!(warnings([staged("a"), staged("b")], &[]), none);
        let failed = JobResult {
            outcome: Outcome::Failed,
            ..broken("f", Outcome::Failed, ErrorKind::Api, "gone")
        };
        let again = JobResult { repeat: 1, ..expecting(1) };
        assert_eq!(warnings([staged("a"), failed, again], &[]), none);
    }

    #[test]
    fn data_of_failed_jobs_counts_as_in_the_figures() {
        let failed = JobResult { outcome: Outcome::Failed, ..staged("f") };
        let found = warnings([staged("a"), failed, expecting(1)], &[]);
        assert!(found[0].contains("1 of 3 items"), "{found:?}");
        assert!(found[0].contains("Token Accuracy is of 2 items only"), "{found:?}");
    }

    #[test]
    fn pipeline_that_made_no_code_at_all_is_warned_of_without_a_judge() {
        let mut missing = MissingStageData::default();
        (0..3).map(expecting).for_each(|result| missing.add(&result));
        let of = |needs: &[PromptField]| {
            let rubric = Rubric { needs: needs.to_vec(), ..rubric(SEMANTIC) };
            missing.warnings(&rubric, false).iter().any(|found| found.contains("no generated code"))
        };
        assert!(of(&[PromptField::GeneratedCode]) && !of(&[]));
    }
}
