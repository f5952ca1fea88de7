//! The server's traits on the rest of the program: starting runs and reading what they judged.

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
