//! Check of HTML: every element closed, in order.
//!
//! Tags come from html5ever's tokenizer; a stack of open elements finds what is unclosed or
//! mismatched. A page that a browser would quietly repair is judged as it was written: a missing
//! doctype, unescaped `&`, unquoted or doubled attributes are no errors; end tags that the standard
//! lets authors leave out (`</li>`, `</p>`, `</td>`, ...) may be left out wherever a surrounding
//! element ends.

use html5ever::{
    LocalName,
    tendril::StrTendril,
    tokenizer::{
        BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
        states::RawKind,
    },
};
use std::cell::{Cell, RefCell};

/// Elements without content or end tag.
const VOID: [&str; 18] = [
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input",
    "keygen", "link", "meta", "param", "source", "track", "wbr",
];
/// Elements whose end tag may be left out.
const OPTIONAL_END: [&str; 20] = [
    "body", "caption", "colgroup", "dd", "dt", "head", "html", "li", "optgroup", "option", "p",
    "rb", "rp", "rt", "rtc", "tbody", "td", "tfoot", "th", "thead",
];
/// Maximum number of separators in a tag. The tokenizer compares each attribute with all others, so
/// a tag of a megabyte would take minutes; a tag has fewer attributes than blanks, slashes and
/// quotes.
pub(in crate::stages) const MAX_SEPARATORS_IN_A_TAG: usize = 20_000;
const PIECE: usize = 4096;

/// The first error, as "line n: what".
pub(super) fn first_error(code: &str) -> Option<String> {
    let tokenizer = Tokenizer::new(Checker::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut separators = 0;
    let mut rest = code;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE.min(rest.len())));
        let tokens_before = tokenizer.sink.tokens.get();
        input.push_back(StrTendril::from(piece));
        feed(&tokenizer, &input);
        if tokenizer.sink.tokens.get() != tokens_before {
            separators = 0;
        }
        separators += piece.bytes().filter(|byte| b" \t\n\r\x0c/\"'".contains(byte)).count();
        if separators > MAX_SEPARATORS_IN_A_TAG {
            let line = line_of(code, after);
            tokenizer.sink.report(format!("line {line}: a tag with more than 20,000 separators"));
        }
        if tokenizer.sink.error.borrow().is_some() {
            break;
        }
        rest = after;
    }
    if tokenizer.sink.error.borrow().is_none() {
        tokenizer.end();
    }
    tokenizer.sink.error.take()
}

/// Feeds all input to a tokenizer, which pauses at the end of each script so that it could be run.
pub(in crate::stages) fn feed(tokenizer: &Tokenizer<impl TokenSink>, input: &BufferQueue) {
    while !input.is_empty() {
        let _paused = tokenizer.feed(input);
    }
}

#[derive(Default)]
struct Checker {
    open: RefCell<Vec<(LocalName, u64)>>,
    /// Open `<svg>` and `<math>` elements, in which a slash closes an element.
    foreign: Cell<usize>,
    tokens: Cell<u64>,
    error: RefCell<Option<String>>,
}

impl TokenSink for Checker {
    type Handle = ();

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<()> {
        let mut next = TokenSinkResult::Continue;
        match token {
            // Resets the separator count: a tag ends here.
            Token::TagToken(tag) => {
                self.count();
                next = match tag.kind {
                    TagKind::StartTag => self.start(&tag, line),
                    TagKind::EndTag => {
                        self.end_tag(&tag.name, line);
                        TokenSinkResult::Continue
                    }
                };
            }
            Token::ParseError(message) => {
                if let Some(what) = broken_tag(&message) {
                    self.report(format!("line {line}: {what}"));
                }
            }
            Token::EOFToken => self.end_of_file(),
            Token::CharacterTokens(_) | Token::CommentToken(_) | Token::DoctypeToken(_) => {
                self.count();
            }
            Token::NullCharacterToken => {}
        }
        next
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.foreign.get() > 0
    }
}

impl Checker {
    fn count(&self) {
        self.tokens.set(self.tokens.get() + 1);
    }

    fn report(&self, error: String) {
        self.error.borrow_mut().get_or_insert(error);
    }

    fn start(&self, tag: &Tag, line: u64) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        let is_foreign = matches!(name, "svg" | "math");
        if is_void(name) || (tag.self_closing && (is_foreign || self.foreign.get() > 0)) {
            return TokenSinkResult::Continue;
        }
        if is_foreign {
            self.foreign.set(self.foreign.get() + 1);
        }
        self.open.borrow_mut().push((tag.name.clone(), line));
        match name {
            _ if self.foreign.get() > 0 => TokenSinkResult::Continue,
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => {
                TokenSinkResult::RawData(RawKind::Rawtext)
            }
            _ => TokenSinkResult::Continue,
        }
    }

    fn end_tag(&self, name: &LocalName, line: u64) {
        let mut open = self.open.borrow_mut();
        while let Some((top, opened)) = open.pop() {
            if matches!(&*top, "svg" | "math") {
                self.foreign.set(self.foreign.get().saturating_sub(1));
            }
            if top == *name {
                return;
            }
            if may_stay_open(&top) {
                continue;
            }
            // The start tags of a table's parts may be left out, too.
            if &*top == "table" && matches!(&**name, "tbody" | "colgroup") {
                open.push((top, opened));
            } else if open.iter().any(|(other, _)| other == name) {
                self.report(format!(
                    "line {line}: </{name}> comes while <{top}> of line {opened} is open"
                ));
            } else {
                self.report(format!("line {line}: </{name}> closes nothing that is open"));
            }
            return;
        }
        // End tags of html, head and body may stand alone.
        if !matches!(&**name, "html" | "head" | "body") {
            self.report(format!("line {line}: </{name}> closes nothing that is open"));
        }
    }

    fn end_of_file(&self) {
        let open = self.open.borrow();
        if let Some((name, line)) = open.iter().rev().find(|(name, _)| !may_stay_open(name)) {
            self.report(format!("line {line}: <{name}> is never closed"));
        }
    }
}

fn line_of(code: &str, rest: &str) -> usize {
    let read = code.len().saturating_sub(rest.len());
    code.bytes().take(read).filter(|byte| *byte == b'\n').count() + 1
}

fn is_void(name: &str) -> bool {
    VOID.binary_search(&name).is_ok()
}

fn may_stay_open(name: &str) -> bool {
    OPTIONAL_END.binary_search(&name).is_ok() || name == "tr"
}

/// The message for a tokenizer error that means an incomplete tag or comment; `None` for others.
fn broken_tag(message: &str) -> Option<&'static str> {
    let inside_a_tag = |message: &str| {
        ["TagName", "AttributeName", "BeforeAttributeValue", "AfterAttributeValueQuoted"]
            .iter()
            .any(|state| message.contains(state))
    };
    if message.starts_with("Saw EOF in state") {
        Some("the file ends inside a tag or comment")
    } else if message.contains("in state EndTagOpen") {
        Some("a broken end tag")
    } else if message == "Attributes on an end tag" || message == "Self-closing end tag" {
        Some("an end tag with attributes or a slash")
    } else if message.starts_with("Saw <") && inside_a_tag(message) {
        Some("a tag starts inside a tag")
    } else if (message.starts_with("Saw \"") || message.starts_with("Saw '"))
        && message.contains("AttributeName")
    {
        Some("a quote at a wrong place in a tag")
    } else {
        None
    }
}
