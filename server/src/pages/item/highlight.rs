//! Kinds of the parts of code, as far as colors need them. Code may be anything, broken too: every
//! byte of it comes out again, in order. Pure.

use juror_types::item::Language;

/// Kind of a piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text without a color of its own.
    Plain,
    Comment,
    /// A string.
    Text,
    Number,
    /// A word of the language.
    Word,
    /// The name of an element.
    Tag,
    /// The name of an attribute.
    Attribute,
}

const WORDS: &str = "abstract as async await boolean break case catch class const continue \
    default delete do else enum export extends false finally for from function if implements \
    import in instanceof interface let new null number of return static string switch this throw \
    true try type typeof undefined var while";

/// Cuts code into pieces.
pub fn pieces(code: &str, language: Language) -> Vec<(Kind, &str)> {
    let mut cutter = Cutter {
        rest: code,
        pieces: Vec::new(),
        has_tags: !matches!(language, Language::Ts | Language::Js),
        has_script: language != Language::Html,
        in_tag: false,
        braces: 0,
        behind_name: false,
    };
    while !cutter.rest.is_empty() {
        cutter.next();
    }
    cutter.pieces
}

struct Cutter<'code> {
    rest: &'code str,
    pieces: Vec<(Kind, &'code str)>,
    /// True if `<name` begins an element.
    has_tags: bool,
    /// True if there are words, comments and strings of a script.
    has_script: bool,
    /// True if this is between `<name` and its `>`.
    in_tag: bool,
    /// Braces that are open within a tag: there it is script again.
    braces: u32,
    /// True directly after a name: a `<` then starts type arguments, not an element.
    behind_name: bool,
}

impl<'code> Cutter<'code> {
    fn next(&mut self) {
        let in_attributes = self.in_tag && self.braces == 0;
        let in_script = self.has_script && !in_attributes;
        let rest = self.rest;
        let Some(first) = rest.chars().next() else { return };
        if rest.starts_with("<!--") {
            return self.cut(Kind::Comment, until(rest, "-->"));
        }
        if in_script && rest.starts_with("/*") {
            return self.cut(Kind::Comment, until(rest, "*/"));
        }
        if in_script && rest.starts_with("//") {
            return self.cut(Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
        }
        let can_begin = !self.behind_name || !self.has_script || rest.starts_with("</");
        if self.has_tags
            && !in_attributes
            && can_begin
            && let Some(length) = tag(rest)
        {
            (self.in_tag, self.braces) = (true, 0);
            return self.cut(Kind::Tag, length);
        }
        let end = ["/>", ">"].into_iter().find(|end| rest.starts_with(end));
        if let Some(end) = end.filter(|_| in_attributes) {
            self.in_tag = false;
            return self.cut(Kind::Tag, end.len());
        }
        match first {
            '{' if self.in_tag && self.has_script => {
                self.braces += 1;
                self.cut(Kind::Plain, 1);
            }
            '}' if self.in_tag && self.has_script => {
                self.braces = self.braces.saturating_sub(1);
                self.cut(Kind::Plain, 1);
            }
            '"' | '\'' | '`' if in_attributes || (self.has_script && self.opens_text(first)) => {
                self.cut(Kind::Text, text(rest, first));
            }
            first if is_name(first) => self.name(in_attributes),
            first => self.cut(Kind::Plain, first.len_utf8()),
        }
    }

    /// True if a quote begins a string: one on the same line ends it, so that the apostrophe of a
    /// word between elements colors nothing.
    fn opens_text(&self, quote: char) -> bool {
        let line = self.rest.lines().next().unwrap_or_default();
        quote == '`' || line.chars().skip(1).any(|other| other == quote)
    }

    fn name(&mut self, in_attributes: bool) {
        let rest = self.rest;
        let is_part = |c: char| is_name(c) || (in_attributes && matches!(c, '-' | ':' | '.'));
        let length = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let (name, _) = rest.split_at(length);
        let kind = if in_attributes {
            Kind::Attribute
        } else if !self.has_script {
            Kind::Plain
        } else if name.starts_with(|c: char| c.is_ascii_digit()) {
            Kind::Number
        } else if WORDS.split(' ').any(|word| word == name) {
            Kind::Word
        } else {
            Kind::Plain
        };
        self.cut(kind, length);
    }

    /// Cuts the next `length` bytes as one piece of this kind.
    fn cut(&mut self, kind: Kind, length: usize) {
        let (piece, rest) = self.rest.split_at(length);
        self.rest = rest;
        self.behind_name = kind == Kind::Plain && piece.ends_with(is_name);
        self.pieces.push((kind, piece));
    }
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

/// The length of `<name`, `</name`, `<>` or `</>`; `None` if a `<` is only smaller than.
fn tag(rest: &str) -> Option<usize> {
    let from_name = rest.strip_prefix('<')?;
    let from_name =
        from_name.strip_prefix('/').or_else(|| from_name.strip_prefix('!')).unwrap_or(from_name);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | ':' | '_');
    let name = from_name.find(|c: char| !is_part(c)).unwrap_or(from_name.len());
    let starts = from_name.starts_with(char::is_alphabetic) || from_name.starts_with('>');
    starts.then_some(rest.len() - from_name.len() + name)
}

/// The length up to this end, or all of it.
fn until(rest: &str, end: &str) -> usize {
    rest.find(end).map_or(rest.len(), |place| place + end.len())
}

/// The length of a string with its quotes; one without an end extends to the end of the code.
fn text(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (place, character) in rest.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            other if other == quote => return place + character.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: &str, language: Language) -> Vec<(Kind, &str)> {
        let plain = |(kind, piece): &(Kind, &str)| *kind != Kind::Plain && !piece.trim().is_empty();
        pieces(code, language).into_iter().filter(plain).collect()
    }

    #[test]
    fn tsx_tokens_are_classified() {
        let code = "const a = 1; // one\nreturn <Card title=\"x\" on={() => go('y')}>It's</Card>";
        let found = of(code, Language::Tsx);
        let expected = [
            (Kind::Word, "const"),
            (Kind::Number, "1"),
            (Kind::Comment, "// one"),
            (Kind::Word, "return"),
            (Kind::Tag, "<Card"),
            (Kind::Attribute, "title"),
            (Kind::Text, "\"x\""),
            (Kind::Attribute, "on"),
            (Kind::Text, "'y'"),
            (Kind::Tag, ">"),
            (Kind::Tag, "</Card"),
            (Kind::Tag, ">"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn html_text_is_not_highlighted_as_script() {
        let found = of("<!-- c --><p class='a'>if it's new</p>", Language::Html);
        let expected = [
            (Kind::Comment, "<!-- c -->"),
            (Kind::Tag, "<p"),
            (Kind::Attribute, "class"),
            (Kind::Text, "'a'"),
            (Kind::Tag, ">"),
            (Kind::Tag, "</p"),
            (Kind::Tag, ">"),
        ];
        assert_eq!(found, expected);
        assert_eq!(of("a < b && c > d", Language::Ts), []);
        assert_eq!(of("f<T>(x: Map<K, V>)", Language::Tsx), []);
    }

    #[test]
    fn highlighted_code_keeps_its_text() {
        for code in ["<", "\"", "`a\\", "</", "<a b={", "/* x", "é<ü'ö\"", "}}>{{<", "<!--", "''''"]
        {
            for language in [Language::Tsx, Language::Html, Language::Js] {
                let whole: String =
                    pieces(code, language).iter().map(|(_, piece)| *piece).collect();
                assert_eq!(whole, code);
            }
        }
    }
}
