//! The log-in page.

use super::{NavigationPage, PageQuery, page};
use crate::access::Visitor;
use axum::extract::Extension;
use maud::{Markup, html};

/// Renders the log-in form. Query: `refused` after a wrong token, `next` to redirect to.
pub async fn show(Extension(visitor): Extension<Visitor>, query: PageQuery) -> Markup {
    let refused = query.text("refused").map(|_| "Wrong token.");
    let content = html! {
        section.card.narrow aria-labelledby="login" {
            h1 #login { "Log in" }
            p { "This server requires a token." }
            @if let Some(refused) = refused { p.error #refused role="alert" { (refused) } }
            form.fields method="post" action="/login" {
                @if let Some(next) = query.text("next") { input type="hidden" name="next" value=(next); }
                // Password managers need a user name.
                input type="text" name="username" value="juror" autocomplete="username" hidden;
                label for="token" { "Token" }
                input #token name="token" type="password" required autofocus autocomplete="current-password"
                    aria-describedby=[refused.map(|_| "refused")];
                button.primary type="submit" { "Log in" }
            }
            p.faint { "The read token shows everything; the write token also starts and stops runs." }
        }
    };
    page(Some(visitor), "Log in", NavigationPage::Other, &content)
}
