//! Layout of pages: head, navigation, footer.

use super::assets::{SCRIPT, STYLE_SHEET};
use crate::access::{Credential, Visitor};
use maud::{DOCTYPE, Markup, html};

/// Pages in the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NavigationPage {
    /// The newest run.
    Overview,
    Runs,
    /// Comparison of two runs.
    Compare,
    /// Metrics over time.
    Trend,
    /// A new run.
    Start,
    /// None of these.
    Other,
}

/// Page with this title, for a visitor. Navigation is hidden without permission to read.
pub fn page(
    visitor: Option<Visitor>,
    title: &str,
    place: NavigationPage,
    content: &Markup,
) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Juror" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href=(STYLE_SHEET.url());
                script src=(SCRIPT.url()) defer {}
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                (top(place, visitor))
                main #content tabindex="-1" { (content) }
                footer {
                    p {
                        "Intervals are at 95 %; jobs that failed or could not be scored enter no average."
                        " This page loads nothing from any other host."
                    }
                }
            }
        }
    }
}

fn top(current: NavigationPage, visitor: Option<Visitor>) -> Markup {
    let may_read = visitor.is_some_and(|visitor| visitor.may_read);
    let is_logged_in = visitor.is_some_and(|visitor| visitor.credential == Credential::Cookie);
    let places = [
        (NavigationPage::Overview, "/", "Overview"),
        (NavigationPage::Runs, "/runs", "Runs"),
        (NavigationPage::Compare, "/compare", "Compare"),
        (NavigationPage::Trend, "/trend", "Trend"),
        (NavigationPage::Start, "/start", "Start a run"),
    ];
    html! {
        header.top {
            div {
                a.brand href="/" { "Juror" }
                @if may_read {
                    nav aria-label="Pages" {
                        ul {
                            @for (place, address, name) in places {
                                li {
                                    a href=(address) aria-current=[(place == current).then_some("page")] {
                                        (name)
                                    }
                                }
                            }
                        }
                    }
                }
                @if is_logged_in {
                    form method="post" action="/logout" { button.linklike type="submit" { "Log out" } }
                }
            }
        }
    }
}
