//! Request to the judge about one job.

use crate::{
    cost_bounds::{Bounds, ModelTerms, bounds},
    evidence_stage::ItemEvidence,
    item_texts::LoadedItem,
    prompt,
    result_builder::ResultBuilder,
    retry_policy::AttemptTally,
    run_context::{JudgeSetup, RunContext},
    source_image::{SourceImage, image_error},
    vision::{Request, RequestImage},
};
use bytes::Bytes;
use juror_image::{ImageRules, PREPARATION_VERSION, PreparedImage};
use juror_types::{
    id::Digest,
    job::{Job, Judge},
    model::TextTokens,
    outcome::{InputRecord, JobError},
};
use serde::Serialize;
use std::sync::Arc;
use url::Url;

/// A request that is not sent yet.
pub struct JudgeRequest {
    /// Key in the reply cache: a digest of the whole request.
    pub cache_key: Digest,
    /// Difference of the judged code from the item's own.
    pub code_note: Option<String>,
    /// The item's own part of the prompt.
    item: String,
    /// Tokens of all texts.
    texts: TextTokens,
    images: Vec<LabeledImage>,
}

/// Input that measured evidence adds to a request, as it is known before the item is measured.
#[derive(Debug, Default)]
pub struct EvidenceInput {
    /// Tokens of its facts.
    pub texts: TextTokens,
    /// Width and height of its images.
    pub images: Vec<(u32, u32)>,
}

/// A request, ready to be sent.
pub struct PreparedRequest {
    /// See [`JudgeRequest::cache_key`].
    pub cache_key: Digest,
    pub request: Request,
    /// The images, with what preparation did to them.
    pub inputs: Vec<InputRecord>,
    /// For each image of the request, the URL that its exact bytes were read from; `None` if there
    /// is none or it must not be shown.
    pub urls: Vec<Option<Url>>,
    pub bounds: Bounds,
}

impl PreparedRequest {
    /// Attempts at the job before its first call. Calls settled by earlier holders count as unusable
    /// replies.
    pub fn first_tally(&self, builder: &ResultBuilder, terms: &ModelTerms) -> AttemptTally {
        let larger_output = terms.larger_output_limit(self.bounds.max_output_tokens).is_some();
        AttemptTally { answers: builder.attempts(), larger_output, ..AttemptTally::default() }
    }

    /// Raises the output limit after a truncated reply, within the model's maximum.
    pub fn raise_output_limit(&mut self, terms: &ModelTerms) {
        if let Some(limit) = terms.larger_output_limit(self.bounds.max_output_tokens) {
            self.bounds = self.bounds.with_output_limit(limit, terms);
            self.request.max_output_tokens = u32::try_from(limit).unwrap_or(u32::MAX);
        }
    }
}

impl JudgeRequest {
    /// Reads the job's images and renders its prompt.
    pub async fn for_job(
        job: &Job,
        judge: &Judge,
        loaded: &LoadedItem,
        evidence: Option<&ItemEvidence>,
        setup: &JudgeSetup,
        context: &RunContext,
    ) -> Result<Self, JobError> {
        let images = read_images(job, evidence, context).await?;
        let outcome = evidence.map(|evidence| &evidence.outcome);
        let part =
            prompt::item_part(&context.rubric, &job.item, loaded, outcome, judge.strip_comments)
                .await;
        let prompt::ItemPart { text: item, code_note } = part;
        let digests = images.iter().map(|image| (image.label.as_str(), image.source.record.digest));
        let cache_key = cache_key(job, judge, setup, &item, digests.collect());
        let texts = setup.instructions.tokens.plus(TextTokens::from_text(&item));
        Ok(Self { cache_key, code_note, item, texts, images })
    }

    /// The images with their digests.
    pub fn inputs(&self) -> Vec<InputRecord> {
        self.images.iter().map(|image| image.source.record.clone()).collect()
    }

    /// The images' bytes as they were read, with their digests.
    pub fn originals(&self) -> impl Iterator<Item = (Digest, Bytes)> {
        self.images
            .iter()
            .filter_map(|image| Some((image.source.record.digest?, image.source.bytes.clone())))
    }

    /// Error of an invalid request, found by the images' headers without decoding.
    pub fn unreadable(&self) -> Option<JobError> {
        let mut images = self.images.iter().map(|image| &image.source);
        let image = images.find(|image| juror_image::dimensions(&image.bytes).is_none())?;
        let reference = &image.record.reference;
        Some(image_error(format!(
            "{reference}: its size cannot be read; use a PNG, JPEG, WebP, GIF or BMP file"
        )))
    }

    /// Width and height of the image of this name, by its header; `None` if it has no such image.
    pub fn image_size(&self, name: &str) -> Option<(u32, u32)> {
        let image = self.images.iter().find(|image| image.source.record.name == name)?;
        juror_image::dimensions(&image.source.bytes)
    }

    /// Bounds of a call to a model with what evidence will add, found by the images' headers
    /// without decoding.
    pub fn bounds(
        &self,
        evidence: &EvidenceInput,
        judge: &Judge,
        terms: &ModelTerms,
        rules: &ImageRules,
    ) -> Bounds {
        // An image without a size is unreadable and fails before any call.
        let own =
            self.images.iter().filter_map(|image| juror_image::dimensions(&image.source.bytes));
        let all = own.chain(evidence.images.iter().copied());
        let sizes: Vec<_> = all.map(|(width, height)| rules.fit(width, height)).collect();
        bounds(self.texts.plus(evidence.texts), &sizes, judge, terms)
    }

    /// Prepares the images.
    pub async fn prepare(
        self,
        judge: &Judge,
        setup: &JudgeSetup,
    ) -> Result<PreparedRequest, JobError> {
        let mut prepared = Vec::new();
        for LabeledImage { source, .. } in &self.images {
            let image = setup.image_preparation.prepare(source.bytes.clone(), &setup.rules).await;
            let reference = &source.record.reference;
            prepared.push(image.map_err(|error| image_error(format!("{reference}: {error}")))?);
        }
        let sizes: Vec<_> = prepared.iter().map(|image| (image.width, image.height)).collect();
        let bounds = bounds(self.texts, &sizes, judge, &setup.terms);
        let mut inputs = self.inputs();
        for (input, image) in inputs.iter_mut().zip(&prepared) {
            input.note.clone_from(&image.note);
            input.signature = image.signature;
        }
        let url = |(labeled, image): (&LabeledImage, &PreparedImage)| {
            labeled.source.url.clone().filter(|_| image.unchanged)
        };
        let urls = self.images.iter().zip(&prepared).map(url).collect();
        let images = self.images.into_iter().zip(prepared).map(|(labeled, image)| RequestImage {
            label: labeled.label,
            media_type: image.media_type,
            bytes: image.bytes,
            url: None,
        });
        let request = Request {
            model: judge.model.clone(),
            system: Arc::clone(&setup.instructions.system),
            task: Arc::clone(&setup.instructions.task),
            item: self.item,
            images: images.collect(),
            schema_name: "verdict".to_owned(),
            schema: Arc::clone(&setup.instructions.schema),
            prompt_cache: setup.terms.facts.prompt_cache,
            lane: setup.terms.lane,
            temperature: judge.temperature.filter(|_| setup.terms.facts.temperature),
            detail: judge.detail,
            max_output_tokens: u32::try_from(bounds.max_output_tokens).unwrap_or(u32::MAX),
            output_parameter: setup.terms.facts.output_limit,
            slower: false,
        };
        Ok(PreparedRequest { cache_key: self.cache_key, request, inputs, urls, bounds })
    }
}

/// An image of the request, with its label in the prompt.
struct LabeledImage {
    label: String,
    source: SourceImage,
}

/// Inputs of the key.
#[derive(Serialize)]
struct Identity<'request> {
    schema: u32,
    base_url: &'request str,
    judge: &'request Judge,
    reasoning_allowance: u32,
    rubric: Digest,
    instructions: Digest,
    item: &'request str,
    images: Vec<(&'request str, Option<Digest>)>,
    preparation: (u32, u64, u32, Option<u32>),
    repeat: u32,
}

/// The images that the rubric names, in its order: those of the item, and those that measuring
/// made.
async fn read_images(
    job: &Job,
    evidence: Option<&ItemEvidence>,
    context: &RunContext,
) -> Result<Vec<LabeledImage>, JobError> {
    let mut images = Vec::new();
    for named in &context.rubric.images {
        let known = evidence.and_then(|evidence| evidence.image(&named.name, job.evidence));
        let source = match (known, job.item.images.get(&named.name)) {
            (Some(known), _) => known.clone(),
            (None, _) if named.optional => continue,
            (None, Some(image)) => SourceImage::read(&named.name, image, &context.sources).await?,
            (None, None) => {
                return Err(image_error(format!("the item names no image {:?}", named.name)));
            }
        };
        images.push(LabeledImage { label: named.label.clone(), source });
    }
    Ok(images)
}

/// Digest of everything that can change the judge's reply. `images` are labels with digests.
fn cache_key(
    job: &Job,
    judge: &Judge,
    setup: &JudgeSetup,
    item: &str,
    images: Vec<(&str, Option<Digest>)>,
) -> Digest {
    let ImageRules { max_bytes, max_side, user_max_side, .. } = setup.rules;
    let identity = Identity {
        schema: juror_types::SCHEMA,
        base_url: &setup.base_url,
        judge,
        reasoning_allowance: setup.terms.facts.reasoning_allowance,
        rubric: job.rubric.digest,
        instructions: setup.instructions.digest,
        item,
        images,
        preparation: (PREPARATION_VERSION, max_bytes, max_side, user_max_side),
        repeat: job.repeat,
    };
    let mut json = Vec::with_capacity(4 * 1024);
    let written = serde_json::to_writer(&mut json, &identity);
    debug_assert!(written.is_ok(), "memory takes every text and number");
    Digest::from_content(&json)
}
