//! Differences between a screenshot and the picture of a drawn page, and the changes of the page
//! that repair them. Pure: no I/O, no clock, the same evidence for the same pictures.

mod align;
mod blocks;
mod color;
mod connected_areas;
mod crops;
mod difference;
mod element_tree;
mod frame;
mod measure;
mod measured_noise;
mod noise;
mod pasted;
mod patches;
mod raster;
mod region_kind;
mod regions;
mod repair;
mod shapes;
mod similarity;
mod snapshot;
mod tokens;

pub use align::content_ratio;
pub use crops::max_sheet_size;
pub use frame::possible_frames;
pub use measure::PicturePair;
pub use raster::Raster;
pub use repair::{RepairLimits, RepairSearch};
pub use snapshot::{PageChange, PageEdit, SNAPSHOT_PROPERTIES, Snapshot, SnapshotElement};
