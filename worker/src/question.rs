//! What the judge is asked about one job, and the question's identity.

use crate::{
    context::{Context, JudgeSetup},
    cost_bounds::{Bounds, ModelTerms, bounds},
    image::{self, ImageRules, PREPARATION_VERSION},
    load::LoadedItem,
    prompt,
    vision::{Request, RequestImage},
};
use bytes::Bytes;
use juror_files::local::MAX_IMAGE_BYTES;
use juror_types::{
    id::Digest,
    item::ImageReference,
    job::{Job, Judge},
    model::TextTokens,
    outcome::{ErrorKind, InputRecord, JobError},
    reference::shown,
};
use serde::Serialize;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// A digest of so much takes a third of a millisecond; of more, it moves off the async threads.
const MAX_INLINE_DIGEST: usize = 512 * 1024;

/// A question that is not sent yet.
pub struct Question {
    /// Digest of everything that is asked: two equal keys are the same question.
    pub key: Digest,
    /// Difference of the judged code from the item's own.
    pub code_note: Option<String>,
    /// The item's own part of the prompt.
    item: String,
    /// What all texts take.
    texts: TextTokens,
    images: Vec<SourceImage>,
}

/// An image as it was read.
struct SourceImage {
    record: InputRecord,
    label: String,
    bytes: Bytes,
}

/// A question, ready to be sent.
pub struct PreparedQuestion {
    /// See [`Question::key`].
    pub key: Digest,
    /// What is sent.
    pub request: Request,
    /// The images, with what preparation did to them.
    pub inputs: Vec<InputRecord>,
    /// What the call takes.
    pub bounds: Bounds,
}

impl PreparedQuestion {
    /// Raises the output limit, after an answer that was cut at it, as far as the model allows.
    pub fn raise_output_limit(&mut self, terms: &ModelTerms) {
        if let Some(limit) = terms.larger_output_limit(self.bounds.max_output_tokens) {
            self.bounds = self.bounds.with_output_limit(limit, terms);
            self.request.max_output_tokens = u32::try_from(limit).unwrap_or(u32::MAX);
        }
    }
}

impl Question {
    /// Reads the job's images and renders its prompt.
    pub async fn of(
        job: &Job,
        judge: &Judge,
        loaded: &LoadedItem,
        setup: &JudgeSetup,
        context: &Context,
    ) -> Result<Self, JobError> {
        let mut images = Vec::new();
        for named in &context.rubric.images {
            let reference =
                job.item.images.get(&named.name).ok_or_else(|| {
                    image_error(format!("the item names no image {:?}", named.name))
                })?;
            images.push(read(&named.name, &named.label, reference, context).await?);
        }
        let part =
            prompt::item_part(&context.rubric, &job.item, loaded, judge.strip_comments).await;
        let prompt::ItemPart { text: item, code_note } = part;
        let key = key(job, judge, setup, &item, &images);
        let texts = setup.instructions.tokens.plus(TextTokens::of(&item));
        Ok(Self { key, code_note, item, texts, images })
    }

    /// The images with their digests.
    pub fn inputs(&self) -> Vec<InputRecord> {
        self.images.iter().map(|image| image.record.clone()).collect()
    }

    /// The images' bytes as they were read, with their digests.
    pub fn originals(&self) -> impl Iterator<Item = (Digest, Bytes)> {
        self.images.iter().filter_map(|image| Some((image.record.digest?, image.bytes.clone())))
    }

    /// Why this question cannot be asked, as far as the images' headers tell without decoding any.
    pub fn unreadable(&self) -> Option<JobError> {
        let image = self.images.iter().find(|image| image::dimensions(&image.bytes).is_none())?;
        let reference = &image.record.reference;
        Some(image_error(format!("{reference}: this is no image whose size can be read")))
    }

    /// What a call to some model would take, told by the images' headers without decoding any.
    pub fn bounds(&self, judge: &Judge, terms: &ModelTerms, rules: &ImageRules) -> Bounds {
        let size = |image: &SourceImage| {
            image::dimensions(&image.bytes).map(|(width, height)| rules.fit(width, height))
        };
        // One without a size is unreadable, and asked about in no call.
        let sizes: Vec<_> = self.images.iter().filter_map(size).collect();
        bounds(self.texts, &sizes, judge, terms)
    }

    /// Prepares the images.
    pub async fn prepare(
        self,
        judge: &Judge,
        setup: &JudgeSetup,
    ) -> Result<PreparedQuestion, JobError> {
        let mut prepared = Vec::new();
        for source in &self.images {
            let image = setup.preparer.prepare(source.bytes.clone(), &setup.rules).await;
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
        let images = self.images.into_iter().zip(prepared).map(|(source, image)| RequestImage {
            label: source.label,
            media_type: image.media_type,
            bytes: image.bytes,
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
        Ok(PreparedQuestion { key: self.key, request, inputs, bounds })
    }
}

async fn read(
    name: &str,
    label: &str,
    image: &ImageReference,
    context: &Context,
) -> Result<SourceImage, JobError> {
    let reference = shown(&image.reference);
    let bytes = context
        .sources
        .read(&image.reference, MAX_IMAGE_BYTES)
        .await
        .map_err(|error| image_error(error.to_string()))?;
    let digest = digest(&bytes).await;
    if let Some(promised) = image.sha256.filter(|promised| *promised != digest) {
        return Err(image_error(format!(
            "{reference} is not the file that the manifest promises: its SHA-256 is {digest}, not \
             {promised}; restore the file or correct the manifest"
        )));
    }
    let record = InputRecord { digest: Some(digest), ..InputRecord::unread(name, reference) };
    Ok(SourceImage { record, label: label.to_owned(), bytes })
}

async fn digest(bytes: &Bytes) -> Digest {
    if bytes.len() <= MAX_INLINE_DIGEST {
        return Digest::of(bytes);
    }
    let shared = bytes.clone();
    let digesting = spawn_blocking(move || Digest::of(&shared));
    // It breaks off only where the process is ending.
    digesting.await.unwrap_or_else(|_| Digest::of(bytes))
}

fn key(job: &Job, judge: &Judge, setup: &JudgeSetup, item: &str, images: &[SourceImage]) -> Digest {
    let ImageRules { max_bytes, max_side, user_max_side, .. } = setup.rules;
    let identity = Identity {
        schema: juror_types::SCHEMA,
        base_url: &setup.base_url,
        judge,
        reasoning_allowance: setup.terms.facts.reasoning_allowance,
        rubric: job.rubric.digest,
        instructions: setup.instructions.digest,
        item,
        images: images.iter().map(|image| (image.label.as_str(), image.record.digest)).collect(),
        preparation: (PREPARATION_VERSION, max_bytes, max_side, user_max_side),
        repeat: job.repeat,
    };
    let mut json = Vec::with_capacity(4 * 1024);
    let written = serde_json::to_writer(&mut json, &identity);
    debug_assert!(written.is_ok(), "memory takes every text and number");
    Digest::of(&json)
}

/// Everything that makes two questions different ones.
#[derive(Serialize)]
struct Identity<'question> {
    schema: u32,
    base_url: &'question str,
    judge: &'question Judge,
    reasoning_allowance: u32,
    rubric: Digest,
    instructions: Digest,
    item: &'question str,
    images: Vec<(&'question str, Option<Digest>)>,
    preparation: (u32, u64, u32, Option<u32>),
    repeat: u32,
}

fn image_error(message: String) -> JobError {
    JobError { kind: ErrorKind::Image, message }
}
