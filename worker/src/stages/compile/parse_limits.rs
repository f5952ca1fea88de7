//! Bounds of the cost of parsing some code, computed before it is parsed.
//!
//! The script parser is a recursive descent parser, so nesting costs stack, and it speculatively
//! parses `<` as the start of type arguments before it accepts an operator, so nested speculation
//! doubles the work each time. Both bounds are upper ones: computed from the bytes without
//! distinguishing code from strings and comments, so that hostile code cannot evade them.

use juror_types::item::Language;

/// Stack for one level of nesting. Measured: at most 2 KB, in an unoptimized build.
const STACK_PER_LEVEL: usize = 4 * 1024;
const MIN_STACK: usize = 64 * 1024;
/// Largest stack for parsing. Memory is used only as deep as code really nests; beyond that it is
/// address space.
const MAX_STACK: usize = 256 * 1024 * 1024;
/// Memory that the parser may take in the worst case. Measured: it fills about 200 MB a second, in
/// an unoptimized build.
const MAX_WORK: usize = 128 * 1024 * 1024;
/// Memory per byte of code: syntax trees take up to 16 times the code's length.
const WORK_PER_BYTE: usize = 16;
/// Cost factor of parentheses that may be parameters with defaults, and of type arguments that do
/// not close: multiplied by their number squared, if each stands in the one before.
const WORK_PER_PAIR: usize = 96;
/// Maximum distance of the lookahead after a bracket; one that is still open there counts as a
/// hazard.
const MAX_LOOKAHEAD: usize = 300;

/// Keywords that open a level of nesting.
const NESTING_WORDS: [&str; 27] = [
    "abstract",
    "as",
    "asserts",
    "async",
    "await",
    "delete",
    "do",
    "else",
    "extends",
    "for",
    "if",
    "in",
    "infer",
    "instanceof",
    "is",
    "keyof",
    "new",
    "readonly",
    "return",
    "satisfies",
    "throw",
    "typeof",
    "unique",
    "void",
    "while",
    "with",
    "yield",
];

/// The maximum stack that parsing takes, in bytes; or the reason why the code must not be parsed.
pub(super) fn assess(code: &str, language: Language) -> Result<usize, &'static str> {
    if language == Language::Html {
        return Ok(0);
    }
    let stack = levels(code) * STACK_PER_LEVEL + MIN_STACK;
    if stack > MAX_STACK {
        return Err(
            "not checked: the code is too large for the built-in check (set compile_command)",
        );
    }
    if work(code.as_bytes()) > MAX_WORK {
        return Err(
            "not checked: the code's nesting could keep the built-in check busy for too long (set compile_command)",
        );
    }
    Ok(stack)
}

/// Cost of a `<` that is tried as the start of type arguments.
#[derive(Debug, PartialEq)]
enum SpeculationCost {
    /// Linear in the bytes that it covers.
    Linear,
    /// Failed speculation over other speculations, which then restart: quadratic.
    Quadratic,
    /// An expression or function type may follow, in which everything is tried twice: exponential.
    Exponential,
}

fn work(code: &[u8]) -> usize {
    let (mut doublings, mut in_pairs) = (0_usize, possible_defaults(code));
    for place in memchr::memchr_iter(b'<', code) {
        match code.get(place + 1..).map(speculation_cost) {
            Some(SpeculationCost::Exponential) => doublings += 1,
            Some(SpeculationCost::Quadratic) => in_pairs += 1,
            Some(SpeculationCost::Linear) | None => {}
        }
    }
    code.len()
        .saturating_mul(WORK_PER_BYTE)
        .saturating_add(in_pairs.saturating_mul(in_pairs).saturating_mul(WORK_PER_PAIR))
        .saturating_mul(1 << doublings.min(usize::BITS as usize - 1))
}

/// Number of tokens that could open a level of nesting: brackets and operators that need an operand
/// after them, those that follow a whole expression, and the keywords that do either.
fn levels(code: &str) -> usize {
    let marks = code.bytes().filter(|byte| b"([{<!~-+=?:`*|&@%^/.".contains(byte)).count();
    let words = code.split(|character: char| !character.is_alphabetic());
    marks + words.filter(|word| NESTING_WORDS.binary_search(word).is_ok()).count()
}

/// Walks through plain types (names, lists, literals, object types) behind a `<`, up to something
/// that opens an expression or a function type, or that cannot stand in a type and ends the try.
fn speculation_cost(rest: &[u8]) -> SpeculationCost {
    let is_whole = rest.len() <= MAX_LOOKAHEAD;
    let mut rest = rest.get(..MAX_LOOKAHEAD).unwrap_or(rest);
    let (mut angles, mut braces) = (1_usize, 0_usize);
    let (mut inner_tries, mut seen_extends) = (false, false);
    let ends = |inner_tries: bool| {
        if inner_tries { SpeculationCost::Quadratic } else { SpeculationCost::Linear }
    };
    loop {
        seen_extends |= rest.starts_with(b"extends");
        match rest {
            [] if is_whole => return ends(inner_tries),
            [] => return SpeculationCost::Exponential,
            [b'&', b'&', ..] | [b'|', b'|', ..] => return ends(inner_tries),
            [b'[', b']', after @ ..] => rest = after,
            [b'(' | b'[' | b'`' | b'\\', ..] | [b'/', b'/' | b'*', ..] => {
                return SpeculationCost::Exponential;
            }
            [quote @ (b'"' | b'\''), after @ ..] => match after_string(*quote, after) {
                Some(after) => rest = after,
                None => return SpeculationCost::Exponential,
            },
            [b'?', ..] if braces == 0 && seen_extends => return SpeculationCost::Exponential,
            [b'>', ..] if angles == 1 && braces == 0 => return SpeculationCost::Linear,
            [byte, after @ ..] => {
                match byte {
                    b'<' => {
                        angles += 1;
                        inner_tries = true;
                    }
                    b'>' => angles = angles.saturating_sub(1),
                    b'{' => braces += 1,
                    b'}' if braces > 0 => braces -= 1,
                    b':' | b';' | b'?' if braces > 0 => {}
                    b',' | b'.' | b'|' | b'&' | b'-' | b'_' | b'$' => {}
                    _ if byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() => {}
                    _ if !byte.is_ascii() => {}
                    _ => return ends(inner_tries),
                }
                rest = after;
            }
        }
    }
}

/// Number of opening parentheses that might hold a parameter with a default.
fn possible_defaults(code: &[u8]) -> usize {
    memchr::memchr_iter(b'(', code)
        .filter(|place| code.get(place + 1..).is_some_and(may_hold_default))
        .count()
}

/// True if an `=` that assigns comes before the parenthesis closes, within a short lookahead.
fn may_hold_default(rest: &[u8]) -> bool {
    let mut rest = rest.get(..MAX_LOOKAHEAD).unwrap_or(rest);
    let mut depth = 1_usize;
    loop {
        match rest {
            [b'=' | b'!' | b'<' | b'>', b'=', after @ ..] | [b'=', b'>', after @ ..] => {
                rest = after
            }
            [b'=' | b'`' | b'/' | b'\\', ..] | [] => return true,
            [quote @ (b'"' | b'\''), after @ ..] => match after_string(*quote, after) {
                Some(after) => rest = after,
                None => return true,
            },
            [b')', ..] if depth == 1 => return false,
            [byte, after @ ..] => {
                match byte {
                    b'(' => depth += 1,
                    b')' => depth -= 1,
                    _ => {}
                }
                rest = after;
            }
        }
    }
}

fn after_string(quote: u8, text: &[u8]) -> Option<&[u8]> {
    let end = text.iter().position(|byte| [quote, b'\\', b'\n'].contains(byte))?;
    text.get(end..)?.strip_prefix(&[quote])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_words_can_be_searched() {
        assert!(NESTING_WORDS.is_sorted());
    }

    fn tries(code: &str, kind: &SpeculationCost) -> usize {
        let code = code.as_bytes();
        memchr::memchr_iter(b'<', code)
            .filter(|at| speculation_cost(&code[at + 1..]) == *kind)
            .count()
    }

    #[test]
    fn ordinary_types_and_comparisons_end() {
        for code in [
            "useState<string>('')",
            "const a: Array<Record<string, Item[]>> = []",
            "React.FC<{ label: string; kind?: 'a' | 'b' }>",
            "if (a < b && (c))",
            "a < b ? (c) : d",
            "for (let i = 0; i < items.length; i++)",
            "<a href={f(x)}>text (more)</a>",
            "<Button {...props}>{children}</Button>",
            "</li>",
        ] {
            assert_eq!(
                tries(code, &SpeculationCost::Exponential)
                    + tries(code, &SpeculationCost::Quadratic),
                0,
                "{code}"
            );
        }
    }

    #[test]
    fn only_parentheses_with_assignments_may_hold_defaults() {
        for (code, count) in [
            ("f(x) + g(\"=\", (y) => z(y == 1 || y <= 2))", 0),
            ("(a = 1) => a", 1),
            ("f((a = 1), ')')", 2),
            ("(a=(b=(c", 3),
        ] {
            assert_eq!(possible_defaults(code.as_bytes()), count, "{code}");
        }
    }

    #[test]
    fn nested_speculative_parses_are_counted() {
        for code in [
            "a<(",
            "a<{b:(",
            "f<A, [",
            "f<`",
            "a<b<(",
            "a</**/(",
            "a<'>'|(",
            "a<b extends c?(",
            "a<\"\\\"(",
        ] {
            assert!(tries(code, &SpeculationCost::Exponential) > 0, "{code}");
        }
    }

    #[test]
    fn unclosed_speculative_parses_repeat() {
        assert_eq!(tries(&"a<".repeat(100), &SpeculationCost::Quadratic), 99);
        assert!(work("a<".repeat(5_000).as_bytes()) > MAX_WORK);
        assert!(work("a<b,".repeat(250_000).as_bytes()) > MAX_WORK);
    }
}
