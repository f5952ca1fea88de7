//! Models as data: token counts of images, supported parameters, prices.
//!
//! The data are `config/models.toml` and `config/prices.toml`, compiled in; a user's prices
//! override them. No provider is queried: a call reserves the upper bound computed here, and the
//! usage of its reply replaces it.

mod capabilities;
mod data_file;
mod image_tokens;
mod name;
mod price_table;
mod text_tokens;

pub use capabilities::{
    ImageFormat, ImageLimits, ModelCapabilities, Models, OutputLimit, PromptCache,
};
pub use data_file::DataFileError;
pub use image_tokens::ImageFormula;
pub use name::is_same_model;
pub use price_table::{Endpoint, NoPrice, PriceEntry, PriceTerms, Prices};
pub use text_tokens::TextTokens;
