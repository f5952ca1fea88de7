//! The last result of each job, in compact memory.

use super::Latest;
use hashbrown::HashTable;
use juror_types::id::{Digest, JobId};

/// A job's id as key: evenly distributed bits, which are their own hash.
pub(super) type JobKey = [u8; 16];

/// The last result of each job, in 32 bytes plus 5 to 12 of the index. The index has positions of
/// four bytes, so that little memory is copied while it grows.
#[derive(Clone, Debug, Default)]
pub(super) struct JobIndex {
    entries: Vec<(JobKey, Latest)>,
    /// Indexes of the keys in `entries`.
    places: HashTable<u32>,
}

impl JobIndex {
    /// The last result of a job.
    pub(super) fn get(&self, key: &JobKey) -> Option<Latest> {
        let place = self.places.find(hash(key), |place| self.holds(*place, key))?;
        self.entries.get(*place as usize).map(|(_, latest)| *latest)
    }

    /// The last result of a job, to be changed.
    pub(super) fn get_mut(&mut self, key: &JobKey) -> Option<&mut Latest> {
        let place = *self.places.find(hash(key), |place| self.holds(*place, key))?;
        self.entries.get_mut(place as usize).map(|(_, latest)| latest)
    }

    /// Inserts the first result of a job.
    pub(super) fn insert(&mut self, key: JobKey, latest: Latest) {
        let place = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        self.entries.push((key, latest));
        let hash_at =
            |place: &u32| self.entries.get(*place as usize).map_or(0, |(key, _)| hash(key));
        self.places.insert_unique(hash(&key), place, hash_at);
    }

    /// Jobs that have a result.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Every job's last result, in insertion order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(JobKey, Latest)> {
        self.entries.iter()
    }

    fn holds(&self, place: u32, key: &JobKey) -> bool {
        self.entries.get(place as usize).is_some_and(|(known, _)| known == key)
    }
}

/// The key of a job: ids are 128 bits in hexadecimal; any other text is shortened to as many.
pub(super) fn key(job: &JobId) -> JobKey {
    let text = job.as_str();
    let plain = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let bits = if plain { u128::from_str_radix(text, 16).ok() } else { None };
    bits.map(u128::to_be_bytes).unwrap_or_else(|| {
        let digest = Digest::from_content(text.as_bytes());
        digest.as_bytes().first_chunk().copied().unwrap_or_default()
    })
}

fn hash(key: &JobKey) -> u64 {
    let bits = u128::from_be_bytes(*key);
    (bits >> 64) as u64
}
