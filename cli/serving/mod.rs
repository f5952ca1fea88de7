//! What the web door needs of the rest of the house: runs are begun, and what they judged is shown.

mod estimate;
mod fleet;
mod item_details;
mod item_source;
mod local;
mod request_validator;
mod roots;
mod run_launcher;

pub use item_source::DatasetItemSource;
pub use request_validator::RunRequestValidator;
pub use run_launcher::LocalRunLauncher;
