//! Differences between a screenshot and the picture of a drawn page, and the changes of the page
//! that repair them. Pure: no I/O, no clock, the same evidence for the same pictures.

mod align;
mod blocks;
mod bounds;
mod browser_defaults;
mod color;
mod connected_areas;
mod contact_sheet;
mod content_box;
mod corners;
mod design_tokens;
mod difference;
mod element_tree;
mod found_texts;
mod ink;
mod measure_noise;
mod page_surroundings;
mod pair_noise;
mod pasted_screenshot;
mod picture_pair;
mod raster;
mod region_kind;
mod regions;
mod repair;
mod screenshot_shift;
mod shapes;
mod shifted_texts;
mod similarity;
mod snapshot;
mod template_matching;
mod viewport_search;

pub use browser_defaults::DefaultsSearch;
pub use color::is_color;
pub use contact_sheet::max_sheet_size;
pub use found_texts::share_of_found_texts;
pub use page_surroundings::possible_frames;
pub use picture_pair::PicturePair;
pub use raster::Raster;
pub use repair::{RepairLimits, RepairSearch};
pub use snapshot::{PageChange, PageEdit, SNAPSHOT_PROPERTIES, Snapshot, SnapshotElement};
pub use viewport_search::ViewportSearch;
