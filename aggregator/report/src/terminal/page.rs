//! A page of text: lines, styles, columns, within a width.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Column in which the text of a section begins.
pub(super) const INDENT: usize = 3;

/// Style of a piece of text on a terminal that knows colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Heading,
    Faint,
    Good,
    Doubtful,
    Bad,
}

/// The text so far.
#[derive(Debug)]
pub(super) struct Page {
    text: String,
    pub(super) width: usize,
    color: bool,
}

impl Page {
    pub(super) fn new(width: usize, color: bool) -> Self {
        Self { text: String::new(), width: width.clamp(74, 160), color }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    pub(super) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A line of styled pieces; trailing spaces are left out.
    pub(super) fn line(&mut self, pieces: &[(&str, Style)]) {
        for (text, style) in pieces {
            self.push(text, *style);
        }
        let end = self.text.trim_end_matches(' ').len();
        self.text.truncate(end);
        self.text.push('\n');
    }

    /// A heading with something at the right margin, and a thin rule.
    pub(super) fn heading(&mut self, left: &str, right: &[(&str, Style)]) {
        let right_width: usize = right.iter().map(|(text, _)| text.width()).sum();
        let left = fit(left, self.width.saturating_sub(right_width + 1));
        let gap = " ".repeat(self.width.saturating_sub(left.width() + right_width));
        let mut pieces = vec![(left.as_str(), Style::Heading), (gap.as_str(), Style::Plain)];
        pieces.extend(right);
        self.line(&pieces);
        let rule = "─".repeat(self.width);
        self.line(&[(&rule, Style::Faint)]);
    }

    /// Text under the indent, broken between words; further lines hang by `hang` columns.
    pub(super) fn wrapped(&mut self, text: &str, hang: usize, style: Style) {
        let room = self.width.saturating_sub(INDENT);
        for (number, line) in broken(text, room, room.saturating_sub(hang)).iter().enumerate() {
            // A figure space stands where a line must not break.
            let line = line.replace('\u{2007}', " ");
            let margin = " ".repeat(INDENT + if number == 0 { 0 } else { hang });
            self.line(&[(&margin, Style::Plain), (&line, style)]);
        }
    }

    /// `Label:   text`, the text broken between words under itself.
    pub(super) fn labeled(&mut self, label: &str, label_width: usize, text: &str) {
        let label = padded(&format!("{label}:"), label_width).replace(' ', "\u{2007}");
        self.wrapped(&format!("{label}\u{2007}{text}"), label_width + 1, Style::Plain);
    }

    fn push(&mut self, text: &str, style: Style) {
        let code = match style {
            Style::Plain => None,
            Style::Heading => Some("1"),
            Style::Faint => Some("2"),
            Style::Good => Some("32"),
            Style::Doubtful => Some("33"),
            Style::Bad => Some("31"),
        };
        match code.filter(|_| self.color && !text.is_empty()) {
            Some(code) => self.text.push_str(&format!("\u{1b}[{code}m{text}\u{1b}[0m")),
            None => self.text.push_str(text),
        }
    }
}

/// The text, cut with an ellipsis where it is wider than this.
pub(super) fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > width {
            break;
        }
        cut.push(character);
    }
    cut.push('…');
    cut
}

/// The text in lines, broken between words: the first of this width, the others of that.
pub(super) fn broken(text: &str, first: usize, others: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let room = if lines.is_empty() { first } else { others };
        if !line.is_empty() && line.width() + 1 + word.width() > room {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// Left-aligned in a column of this width.
pub(super) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// Right-aligned in a column of this width.
pub(super) fn right_aligned(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_with_wide_characters() {
        assert_eq!(fit("按钮按钮", 5), "按钮…");
        assert_eq!(padded("按钮", 6), "按钮  ");
        assert_eq!(right_aligned("按钮", 6), "  按钮");
    }

    #[test]
    fn colored_and_plain_output_have_equal_text() {
        let render = |color| {
            let mut page = Page::new(80, color);
            page.line(&[("met", Style::Good), ("  ", Style::Plain), ("x", Style::Plain)]);
            page.finish()
        };
        assert_eq!(render(false), "met  x\n");
        assert_eq!(render(true), "\u{1b}[32mmet\u{1b}[0m  x\n");
    }
}
