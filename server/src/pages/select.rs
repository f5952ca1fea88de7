//! Choices of one option in forms.

use maud::{Markup, Render, html};

/// Labeled choice of one option. `empty` is the text without a choice; `options` are values with
/// their texts.
pub fn select<'a>(
    (name, label): (&str, &str),
    is_required: bool,
    empty: &str,
    chosen: Option<&str>,
    options: impl IntoIterator<Item = (&'a str, impl Render)>,
) -> Markup {
    html! {
        label { (label)
            select name=(name) required[is_required] {
                option value="" { (empty) }
                @for (value, text) in options {
                    option value=(value) selected[chosen == Some(value)] { (text) }
                }
            }
        }
    }
}
