use super::*;
use Language::{Html, Js, Jsx, Ts, Tsx};
use proptest::prelude::*;

#[tokio::test]
async fn valid_code_compiles() {
    for (language, code) in [
        (Tsx, "export const A: React.FC<{ a: string }> = ({ a }) => <p className=\"x\">{a}</p>;"),
        (Tsx, "const f = <T,>(x: T) => x; export default f"),
        (Jsx, "export default function A() { return <><b>1</b> don't</>; }"),
        (Ts, "enum A { B } const c = <number>d; export type E = A | null"),
        (Js, "var a = 1; var a = 2; module.exports = a"),
        (Ts, "function f(a: string): void; function f(a: number): void; function f(a: any) {}"),
        (Ts, "interface A { a: 1 } interface A { b: 2 } type B = A; export { B }; const B = 1"),
        (Js, "export const a = () => <i/>"),
        (Tsx, ""),
        (Html, ""),
        (Html, "text only"),
        (Html, "<!doctype html><html><head><title>a<b</title></head><body><p>x</body></html>"),
        (Html, "<ul><li>a<li>b</ul><dl><dt>a<dd>b</dl><p>one<p>two"),
        (Html, "<table><tr><td>1<td>2<tr><th>3</table>"),
        (Html, "<select><optgroup><option>a<option selected>b</select>"),
        (Html, "<br><img src=a.png alt=''><input disabled/><hr />"),
        (Html, "<svg><path d='M0 0'/><g><circle/></g></svg>"),
        (Html, "<script>if (a < b) { '</div>' }</script><style>a > b {}</style>"),
        (Html, "<textarea><b></textarea>"),
        (Html, "<a href='?a=1&b=2'>a & b < 3</a><!-- <div> -->"),
        (Html, "<!--[if mso]><table><tr><td><![endif]--><p>a</p>"),
        (Html, "<div class=\"a\"class=\"b\" @click='x' :key=y></div>"),
        (Html, "<p><div>in a paragraph</div></p>"),
        (Html, "<p>a</body></html>"),
        (Html, "<table><tr><td>1</tbody></table>"),
        (Html, "<my-button><slot></slot></my-button>"),
    ] {
        assert_eq!(check(code, language).await, Compilation::Sound, "{code}");
    }
}

#[tokio::test]
async fn invalid_code_is_refused_with_its_first_error_position() {
    for (language, code, error) in [
        (Tsx, "const a = <div>\n  <b>\n</div>", "3:3: "),
        (Tsx, "export const A = () => {\n  return <p>hi</p>", "2:"),
        (Tsx, "const = 3", "1:7: "),
        (Jsx, "let a: string = 1", "1:6: "),
        (Ts, "const é = 'é'; let let x", "1:"),
        (Js, "return )", "1:"),
        (Tsx, "const a = 1;\nconst a = 2;", "1:7: "),
        (Jsx, "export default () => 1;\nexport default () => 2;", "1:"),
        (Html, "<div>\n<span>\n</div>", "line 3: </div> comes while <span> of line 2 is open"),
        (Html, "<div>\n<div></div>", "line 1: <div> is never closed"),
        (Html, "<p>a</p>\n</section>", "line 2: </section> closes nothing"),
        (Html, "<b><i>x</b></i>", "line 1: </b> comes while <i>"),
        (Html, "<div/>", "line 1: <div> is never closed"),
        (Html, "<div class=\"a", "ends inside a tag"),
        (Html, "<div><span", "ends inside a tag"),
        (Html, "<!-- never ended", "ends inside a tag or comment"),
        (Html, "<div <span>x</span></div>", "a tag starts inside a tag"),
        (Html, "<a b\"c>x</a>", "quote"),
        (Html, "<div></ div>", "a broken end tag"),
        (Html, "<div></div class=a>", "an end tag with attributes"),
        (Html, "<script>let a = 1", "<script> is never closed"),
        (Html, "<input></input>", "</input> closes nothing"),
        (Html, "<table><tr></div></table>", "</div> closes nothing"),
        (Html, "<svg><g></svg>", "</svg> comes while <g>"),
        (Html, "<ul><li><b>x</li></ul>", "</li> comes while <b>"),
    ] {
        match check(code, language).await {
            Compilation::Broken(message) => assert!(message.contains(error), "{code}: {message}"),
            other => panic!("{code}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn hostile_nesting_does_not_overflow_the_stack() {
    let levels = 10_000;
    for opener in [
        "(",
        "[",
        "{",
        "!",
        "- ",
        "<a>",
        "<a b={",
        "a=>",
        "()=>{",
        "a?",
        "a=",
        "if(a)",
        "`${",
        "f(",
        "new ",
        "({a:",
        "class A{static{",
        "function f(){",
        "async(a=",
        "(a=",
        "@(",
    ] {
        let code = opener.repeat(levels);
        assert_ne!(check(&code, Tsx).await, Compilation::Sound, "{opener}");
    }
    for opener in ["[", "(a:", "A[", "{a:"] {
        let code = format!("type A = {}", opener.repeat(levels));
        assert_ne!(check(&code, Ts).await, Compilation::Sound, "{opener}");
    }
    let closed = format!("x = {}1{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(check(&closed, Tsx).await, Compilation::Sound);
    assert!(matches!(check(&"<div>".repeat(200_000), Html).await, Compilation::Broken(_)));
}

#[tokio::test]
async fn exponentially_parsed_code_is_left_unchecked() {
    for code in [
        "(a=a<(".repeat(60),
        "(a=f<{a:(".repeat(60),
        "a<(a=a<typeof a<(".repeat(60),
        "(a=a<(".repeat(8) + &"(a=".repeat(300),
        "(a=".repeat(5_000),
        "a<".repeat(5_000),
        "a<b,".repeat(20_000),
        "(".repeat(200_000),
    ] {
        assert!(matches!(check(&code, Tsx).await, Compilation::Unchecked(_)));
    }
    let attributes: String = (0..100_000).map(|number| format!(" a{number}")).collect();
    let endless_tag = format!("<div{attributes}></div>");
    assert!(matches!(check(&endless_tag, Html).await, Compilation::Broken(_)));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_code_neither_panics_nor_hangs(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "<div>", "</div>", "<p", ">", "</", "<!--", "-->", "<script>", "a", "=", "\"", "'", "(", ")",
            "{", "}", "`", "${", "<A", "=>", "?", ":", ";", "\n", "/*", "*/", "//", "/", "é", "\0", "type ",
            "async ", "class ", "const ", "\u{feff}", "&amp", "<svg/>", "]]>", "<![CDATA[", "@",
        ]), 0..40),
        language in prop::sample::select(vec![Html, Js, Jsx, Ts, Tsx]),
    ) {
        let code = pieces.concat();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let checked = runtime.block_on(check(&code, language));
        let gave_up = matches!(checked, Compilation::Unchecked(reason) if reason.contains("gave up"));
        prop_assert!(!gave_up, "{code}");
    }
}
