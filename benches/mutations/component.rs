//! Pages whose changes are planted, read from folders.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Components without an influence on tuning.
pub const HELD_BACK: &str = "benches/components/held_back";
/// Components used to tune the noise of screenshots from other origins.
pub const RENDERING_DIFFERENCES: &str = "benches/components/rendering_differences";
/// Components that differ in a larger viewport, used to tune screenshots of another margin.
pub const OTHER_VIEWPORTS: &str = "benches/components/other_viewports";

/// A page to change.
pub struct Component {
    pub name: String,
    pub html: String,
    pub size: [u32; 2],
    pub number: usize,
}

/// Components of a folder, converted to pages by a function. Those with odd numbers are held out
/// from tuning.
pub fn components(
    folder: &str,
    extension: &str,
    count: usize,
    page_of: &mut dyn FnMut(String, [u32; 2], &str) -> String,
) -> Vec<Component> {
    let (is_held_back, is_tuned_by) =
        (folder == HELD_BACK, folder == RENDERING_DIFFERENCES || folder == OTHER_VIEWPORTS);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_code = |file: &PathBuf| file.extension().is_some_and(|other| other == extension);
    let mut files: Vec<_> = files.filter(is_code).collect();
    files.sort();
    let numbers = (0..).map(|place| match place {
        place if is_held_back => 2 * place + 1,
        place if is_tuned_by => 2 * place,
        place => place,
    });
    let files = numbers.zip(files.into_iter().take(count));
    let is_asked = |number: usize| number.is_multiple_of(2) || env::var_os("TUNED").is_none();
    let read = files.filter(|(number, _)| is_asked(*number)).map(|(number, file)| {
        let code = fs::read_to_string(&file).unwrap();
        let size = viewport(&code);
        Component {
            name: file.file_stem().unwrap().to_string_lossy().into_owned(),
            html: page_of(code, size, extension),
            size,
            number,
        }
    });
    read.collect()
}

fn viewport(code: &str) -> [u32; 2] {
    ["width=", "height="].map(|name| {
        let (_, rest) = code.split_once(name).unwrap();
        rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap().parse().unwrap()
    })
}
