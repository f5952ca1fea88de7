//! The way in, where a token is demanded.

use crate::access::Visitor;
use crate::pages::{
    layout::{NavigationPage, page},
    query::PageQuery,
};
use axum::extract::Extension;
use maud::{Markup, html};

/// The form that takes a token. `refused` tells that the last one did not do, `next` where to go
/// behind it.
pub async fn show(Extension(visitor): Extension<Visitor>, query: PageQuery) -> Markup {
    let refused = query.text("refused").map(|_| "This token is none of this server's.");
    let content = html! {
        section.card.narrow aria-labelledby="login" {
            h1 #login { "Log in" }
            p { "This server is open to those who have one of its tokens." }
            @if let Some(refused) = refused { p.error #refused role="alert" { (refused) } }
            form.fields method="post" action="/login" {
                @if let Some(next) = query.text("next") { input type="hidden" name="next" value=(next); }
                // Keeps of passwords want to know whose it is.
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
