//! Datasets that were read last, kept so that looking at one item does not read all of them again.

use juror_producer::dataset::{Dataset, DatasetFormat};
use juror_types::{id::Digest, item::Item};
use lru::LruCache;
use parking_lot::Mutex;
use std::{
    collections::HashMap, fs, num::NonZeroUsize, path::PathBuf, sync::Arc, time::SystemTime,
};

/// Number of datasets that are kept.
const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(2);
/// Maximum length of a cached manifest in bytes; a longer one is read each time.
const MAX_LENGTH: u64 = 32 << 20;

/// The items of the datasets that were read last.
#[derive(Debug)]
pub struct DatasetCache {
    kept: Mutex<LruCache<DatasetCacheKey, (Digest, ItemsById)>>,
}

impl Default for DatasetCache {
    fn default() -> Self {
        Self { kept: Mutex::new(LruCache::new(CAPACITY)) }
    }
}

impl DatasetCache {
    /// Every item of a dataset by its id, and the dataset's digest; `None` if it is too large to be
    /// kept. Blocks while it is read.
    pub fn items(&self, dataset: &Dataset, rubric: Digest) -> Option<(Digest, ItemsById)> {
        let key = DatasetCacheKey::for_dataset(dataset, rubric)?;
        if let Some(kept) = self.kept.lock().get(&key) {
            return Some(kept.clone());
        }
        let digest = dataset.digest().ok()?;
        let items = dataset.items().ok()?.flatten().map(|placed| placed.item);
        let items: ItemsById = Arc::new(items.map(|item| (item.id.clone(), item)).collect());
        self.kept.lock().put(key, (digest, Arc::clone(&items)));
        Some((digest, items))
    }
}

/// Every item of a dataset.
type ItemsById = Arc<HashMap<String, Item>>;

/// Identity of one state of a dataset, as one rubric reads it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct DatasetCacheKey {
    manifest: PathBuf,
    length: u64,
    modified: SystemTime,
    rubric: Digest,
}

impl DatasetCacheKey {
    /// The cache key of a dataset; `None` for a folder of pairs, whose changes cannot be detected
    /// cheaply, and for a manifest above the maximum length.
    fn for_dataset(dataset: &Dataset, rubric: Digest) -> Option<Self> {
        if dataset.format() == DatasetFormat::Pairs {
            return None;
        }
        let manifest = dataset.source().to_owned();
        let metadata = fs::metadata(&manifest).ok()?;
        let (length, modified) = (metadata.len(), metadata.modified().ok()?);
        (length <= MAX_LENGTH).then_some(Self { manifest, length, modified, rubric })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_producer::dataset::DatasetShape;

    #[test]
    fn manifest_is_cached_until_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("m.jsonl");
        let line = |id: &str| format!("{{\"id\":\"{id}\",\"screenshot\":\"a.png\"}}\n");
        fs::write(&manifest, line("one")).unwrap();
        let images = vec!["screenshot".to_owned()];
        let shape = DatasetShape { images, ..DatasetShape::default() };
        let dataset = Dataset::open(&manifest, &shape).unwrap();
        let cache = DatasetCache::default();
        let rubric = Digest::from_content(b"rubric");
        let (first, items) = cache.items(&dataset, rubric).unwrap();
        assert!(items.contains_key("one"));
        let (_, again) = cache.items(&dataset, rubric).unwrap();
        assert!(Arc::ptr_eq(&items, &again));
        fs::write(&manifest, line("one") + &line("two")).unwrap();
        let (second, items) = cache.items(&dataset, rubric).unwrap();
        assert!(items.contains_key("two"));
        assert_ne!(first, second);
        for other in 0..CAPACITY.get() {
            cache.items(&dataset, Digest::from_content(&[other as u8])).unwrap();
        }
        assert_eq!(cache.kept.lock().len(), CAPACITY.get());
    }
}
