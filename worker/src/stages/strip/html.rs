//! Comments of HTML, and elements that render nothing.

use super::{
    Cut,
    hidden_html::{HiddenSections, attribute},
    script,
};
use crate::stages::compile::{
    html::{MAX_SEPARATORS_IN_A_TAG, feed},
    parse_part,
};
use html5ever::{
    tendril::StrTendril,
    tokenizer::{
        BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
        states::RawKind,
    },
};
use juror_types::item::Language;
use std::cell::{Cell, RefCell};

/// Comments (those of scripts and style sheets too), templates and hidden sections of pages without
/// scripts, and `<meta>` elements that only describe the page.
pub(super) fn cuts(code: &str) -> Option<Vec<Cut>> {
    let tokenizer = Tokenizer::new(Finder::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut separators = 0;
    for (start, character) in code.char_indices() {
        let end = start + character.len_utf8();
        let token_start = tokenizer.sink.token_start.get();
        tokenizer.sink.position.set(end);
        input.push_back(StrTendril::from_char(character));
        feed(&tokenizer, &input);
        let is_comment = code.get(token_start..).is_some_and(|rest| rest.starts_with("<!--"));
        if tokenizer.sink.token_start.get() != token_start || is_comment {
            separators = 0;
        } else if " \t\n\r\u{c}/\"'".contains(character) {
            separators += 1;
        }
        if separators > MAX_SEPARATORS_IN_A_TAG {
            return None;
        }
    }
    tokenizer.end();
    Some(tokenizer.sink.into_cuts(code))
}

/// Positions of tokens: the tokenizer is fed character by character, so a token ends where it is
/// emitted, and begins where the one before it ended.
#[derive(Default)]
struct Finder {
    position: Cell<usize>,
    token_start: Cell<usize>,
    cuts: RefCell<Vec<Cut>>,
    /// Start and end of templates that are not inside another one.
    templates: RefCell<Vec<Cut>>,
    open_templates: RefCell<Vec<usize>>,
    hidden: RefCell<HiddenSections>,
    /// Start of the contents of the script or style sheet that is open.
    raw: Cell<Option<(usize, bool)>>,
    has_script: Cell<bool>,
    /// True if a template is the shadow tree of its parent, which is rendered.
    has_shadow_tree: Cell<bool>,
    raw_texts: RefCell<Vec<(usize, usize, bool)>>,
}

impl TokenSink for Finder {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let (start, end) = (self.token_start.get(), self.position.get());
        let mut next = TokenSinkResult::Continue;
        match token {
            Token::ParseError(_) => return next,
            Token::CommentToken(_) => self.cut(start, end),
            Token::TagToken(tag) => match tag.kind {
                TagKind::StartTag => next = self.start_tag(&tag, start, end),
                TagKind::EndTag => self.end_tag(&tag, start, end),
            },
            _ => {}
        }
        self.token_start.set(end);
        next
    }
}

impl Finder {
    fn cut(&self, start: usize, end: usize) {
        self.cuts.borrow_mut().push(Cut { range: start..end, instead: "" });
    }

    fn start_tag(&self, tag: &Tag, start: usize, end: usize) -> TokenSinkResult<()> {
        self.hidden.borrow_mut().start_tag(tag, start);
        let is_shadow_tree = attribute(tag, "shadowrootmode").is_some();
        self.has_shadow_tree.set(self.has_shadow_tree.get() || is_shadow_tree);
        match &*tag.name {
            "script" => {
                self.has_script.set(true);
                self.raw.set(Some((end, true)));
                return TokenSinkResult::RawData(RawKind::ScriptData);
            }
            "style" => {
                self.raw.set(Some((end, false)));
                return TokenSinkResult::RawData(RawKind::Rawtext);
            }
            "title" | "textarea" => return TokenSinkResult::RawData(RawKind::Rcdata),
            "template" => self.open_templates.borrow_mut().push(start),
            "meta" if describes_only(tag) => self.cut(start, end),
            _ => {}
        }
        TokenSinkResult::Continue
    }

    fn end_tag(&self, tag: &Tag, start: usize, end: usize) {
        self.hidden.borrow_mut().end_tag(tag, end);
        match &*tag.name {
            "template" => {
                let mut open = self.open_templates.borrow_mut();
                if let Some(begun) = open.pop().filter(|_| open.is_empty()) {
                    self.templates.borrow_mut().push(Cut { range: begun..end, instead: "" });
                }
            }
            "script" | "style" => {
                if let Some((begun, is_script)) = self.raw.take() {
                    self.raw_texts.borrow_mut().push((begun, start.max(begun), is_script));
                }
            }
            _ => {}
        }
    }

    fn into_cuts(self, code: &str) -> Vec<Cut> {
        let mut cuts = self.cuts.into_inner();
        if !self.has_script.get() && !self.has_shadow_tree.get() {
            cuts.append(&mut self.templates.into_inner());
        }
        cuts.append(&mut self.hidden.into_inner().into_cuts());
        for (start, end, is_script) in self.raw_texts.into_inner() {
            let Some(text) = code.get(start..end) else { continue };
            let inner = match is_script {
                true => script_cuts(text),
                false => style_comments(text),
            };
            cuts.extend(inner.into_iter().map(|cut| Cut {
                range: cut.range.start + start..cut.range.end + start,
                instead: cut.instead,
            }));
        }
        cuts
    }
}

/// True for a `<meta>` with a name that changes nothing on the screen.
fn describes_only(tag: &Tag) -> bool {
    let value = |name| attribute(tag, name);
    value("http-equiv").is_none()
        && value("charset").is_none()
        && (value("property").is_some()
            || value("name").is_some_and(|name| !matches!(name, "viewport" | "color-scheme")))
}

/// Comments of a style sheet, without those inside a string.
fn style_comments(css: &str) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let (mut quote, mut position) = (None, 0);
    while let Some(character) = css.get(position..).and_then(|rest| rest.chars().next()) {
        let rest = css.get(position..).unwrap_or_default();
        let mut length = character.len_utf8();
        match quote {
            Some(_) if character == '\\' => {
                length += rest.chars().nth(1).map_or(0, char::len_utf8);
            }
            Some(open) if character == open || character == '\n' => quote = None,
            None if matches!(character, '"' | '\'') => quote = Some(character),
            None if rest.starts_with("/*") => {
                length =
                    rest.get(2..).and_then(|rest| rest.find("*/")).map_or(rest.len(), |at| at + 4);
                cuts.push(Cut { range: position..position + length, instead: " " });
            }
            _ => {}
        }
        position += length;
    }
    cuts
}

/// Cuts of a script; empty if parsing it could take too much.
fn script_cuts(text: &str) -> Vec<Cut> {
    let cuts = || script::cuts(text, Language::Html).unwrap_or_default();
    parse_part(text, Language::Js, cuts).unwrap_or_default()
}
