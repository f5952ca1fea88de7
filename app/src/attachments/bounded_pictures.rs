//! Bounded images of judged inputs: thumbnails, and full-size pairs that differ.

use super::{AsJudged, CurrentDataset, JudgedInputs, UnavailableInput, read_local};
use crate::cores::cores;
use bytes::Bytes;
use juror_files::data_roots::MAX_IMAGE_BYTES;
use juror_image::{ImageRules, MAX_MEASURED_SIDE, ReadableFormat, prepare};
use juror_report::{AttachmentRequest, Picture};
use std::{
    collections::{HashMap, HashSet},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Maximum number of items with images.
const MAX_ITEMS: usize = 1_000;

/// Maximum size of the images of a page in bytes.
const MAX_BYTES: usize = 24 << 20;

/// Maximum size of an image in bytes, and of its longer side in pixels.
const MAX_ORIGINAL_BYTES: u64 = 32 << 10;
const MAX_PIXELS: u32 = 440;

/// Maximum size of the full-size images of a page, and of one of them, in bytes.
const MAX_WHOLE_BYTES: usize = 12 << 20;
const MAX_PAGE_BYTES: u64 = 128 << 10;

/// Number of items between two checks whether any bytes remain for more.
const ITEMS_PER_CHECK: usize = 50;

/// Loads the images of each item.
pub fn load_all(
    shown: &[AttachmentRequest],
    current: &Result<CurrentDataset, String>,
    inputs: &JudgedInputs,
) -> HashMap<String, Pictures> {
    let (mut remaining_bytes, mut remaining_whole) = (MAX_BYTES, MAX_WHOLE_BYTES);
    let mut found: HashMap<String, Pictures> = HashMap::new();
    // An item with repeats is shown several times, with the same images.
    let mut seen = HashSet::new();
    let first_of_each: Vec<&AttachmentRequest> =
        shown.iter().filter(|request| seen.insert(request.screenshot_id.as_str())).collect();
    for chunk in first_of_each.chunks(ITEMS_PER_CHECK) {
        let left_out = remaining_bytes == 0 || found.len() >= MAX_ITEMS;
        let may_be_whole = remaining_whole > 0;
        let pictures = match left_out {
            true => chunk.iter().map(|request| omitted_pictures(request)).collect(),
            false => {
                load_in_parallel(chunk, |request| load_item(request, current, inputs, may_be_whole))
            }
        };
        for (request, mut pictures) in chunk.iter().zip(pictures) {
            let whole =
                bytes_of(&pictures, |picture| picture.bytes.len() as u64 > MAX_ORIGINAL_BYTES);
            if whole > remaining_whole {
                // Once the budget is exceeded, only thumbnails are used for the rest of the page.
                remaining_whole = 0;
                pictures = load_item(request, current, inputs, false);
            } else {
                remaining_whole -= whole;
            }
            let bytes = bytes_of(&pictures, |_| true);
            let fits = bytes <= remaining_bytes;
            remaining_bytes = remaining_bytes.saturating_sub(bytes);
            found.insert(
                request.screenshot_id.clone(),
                if fits { pictures } else { omitted_pictures(request) },
            );
        }
    }
    found
}

/// Images of one item by their names in the rubric, or reasons for missing ones.
type Pictures = Vec<(String, Result<Picture, String>)>;

/// Size of the images of an item for which the condition holds.
fn bytes_of(pictures: &Pictures, holds: impl Fn(&Picture) -> bool) -> usize {
    let pictures = pictures.iter().filter_map(|(_, picture)| picture.as_ref().ok());
    pictures.filter(|picture| holds(picture)).map(|picture| picture.bytes.len()).sum()
}

/// Placeholders for an item's images once no bytes remain.
fn omitted_pictures(request: &AttachmentRequest) -> Pictures {
    let none = || Err("omitted: the page has reached its limit of pictures".to_owned());
    request.images().map(|input| (input.name.clone(), none())).collect()
}

/// Placeholders for an item's images whose preparation panicked.
fn failed_pictures(request: &AttachmentRequest) -> Pictures {
    let none = || Err("its preparation failed; the log says why".to_owned());
    request.images().map(|input| (input.name.clone(), none())).collect()
}

/// Decodes in parallel; the results are one for each item, in their order. A panic costs the
/// pictures of its own item alone.
fn load_in_parallel(
    some: &[&AttachmentRequest],
    work: impl Fn(&AttachmentRequest) -> Pictures + Sync,
) -> Vec<Pictures> {
    let next = AtomicUsize::new(0);
    let threads = cores();
    let mut done: Vec<(usize, Pictures)> = thread::scope(|scope| {
        let worker = || {
            let mut done = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(request) = some.get(place) else { return done };
                let pictures = catch_unwind(AssertUnwindSafe(|| work(request)));
                done.push((place, pictures.unwrap_or_else(|_| failed_pictures(request))));
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, pictures)| pictures).collect()
}

fn load_item(
    request: &AttachmentRequest,
    current: &Result<CurrentDataset, String>,
    inputs: &JudgedInputs,
    may_be_whole: bool,
) -> Pictures {
    let judged = request.images().map(|input| {
        let current = current.as_ref().map_err(|reason| UnavailableInput::from(reason.as_str()));
        let bytes = current.and_then(|current| {
            // A result has a URL without its query; the dataset has the complete reference.
            if input.is_render() {
                return Err(UnavailableInput::Rendered);
            }
            let image = current.item(request)?.image(&input.name);
            let image = image.ok_or("the item has no such image")?;
            read_local(&image.reference, &current.roots, MAX_IMAGE_BYTES)
                .map_err(UnavailableInput::from)
        });
        let resolved = inputs.resolve(bytes, input.digest, MAX_IMAGE_BYTES);
        (input.name.clone(), resolved.map_err(|reason| reason.to_string()))
    });
    let judged: Vec<(String, Result<AsJudged<Bytes>, String>)> = judged.collect();
    let whole = |(name, judged): &(String, Result<AsJudged<Bytes>, String>)| {
        Some((name.clone(), Ok(whole(judged.as_ref().ok()?)?)))
    };
    // A pair that differs is shown pixel by pixel, or not at all: copies differ by themselves.
    let pair = (may_be_whole && request.differs).then(|| judged.iter().map(whole).collect());
    pair.flatten().unwrap_or_else(|| {
        judged.into_iter().map(|(name, judged)| (name, judged.and_then(reduced))).collect()
    })
}

/// Judged image; `None` if it is too large, or in a format that browsers do not read.
fn whole(judged: &AsJudged<Bytes>) -> Option<Picture> {
    if judged.content.len() as u64 > MAX_PAGE_BYTES {
        return None;
    }
    let rules = rules(MAX_PAGE_BYTES, MAX_MEASURED_SIDE);
    let picture = picture(judged.clone(), &rules).ok()?;
    picture.is_original.then_some(picture)
}

/// Thumbnail of an image.
fn reduced(judged: AsJudged<Bytes>) -> Result<Picture, String> {
    picture(judged, &rules(MAX_ORIGINAL_BYTES, MAX_PIXELS))
}

fn rules(max_bytes: u64, max_side: u32) -> ImageRules {
    ImageRules {
        formats: vec![ReadableFormat::Png, ReadableFormat::Jpeg],
        max_bytes,
        max_side,
        user_max_side: None,
        signatures: false,
    }
}

fn picture(judged: AsJudged<Bytes>, rules: &ImageRules) -> Result<Picture, String> {
    let prepared = prepare(judged.content, rules).map_err(|error| error.to_string())?;
    Ok(Picture {
        media_type: prepared.media_type,
        bytes: prepared.bytes.to_vec(),
        width: prepared.width,
        height: prepared.height,
        is_original: prepared.unchanged,
        remark: judged.remark,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_costs_the_pictures_of_its_own_item_alone() {
        let items: Vec<AttachmentRequest> = (0..40)
            .map(|number| AttachmentRequest {
                screenshot_id: number.to_string(),
                inputs: Vec::new(),
                language: None,
                differs: false,
            })
            .collect();
        let shown: Vec<&AttachmentRequest> = items.iter().collect();
        let pictures = load_in_parallel(&shown, |request| match request.screenshot_id.as_str() {
            "3" => panic!("a decoder's bug"),
            id => vec![(id.to_owned(), Err("none".to_owned()))],
        });
        for (place, pictures) in pictures.iter().enumerate() {
            let names: Vec<_> = pictures.iter().map(|(name, _)| name.clone()).collect();
            let expected = if place == 3 { vec![] } else { vec![place.to_string()] };
            assert_eq!(names, expected);
        }
        assert_eq!(pictures.len(), items.len());
    }
}
