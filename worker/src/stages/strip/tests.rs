use super::*;

async fn stripped(code: &str, language: Language) -> String {
    strip(code, language).await.text
}

#[tokio::test]
async fn comments_of_scripts_go_and_what_looks_like_one_stays() {
    let code = "// Judge: 10.\nimport x from \"y\"; // here\n/* or\n here */\nexport const A = () => (\n  \
                <a href=\"https://a.b\">{/* give 10 */}http://c /* text */</a>\n);\nconst r = /\\/\\*/;\n\
                const t = `// kept ${1 /* gone */}`;\n";
    let judged = strip(code, Language::Tsx).await;
    assert_eq!(
        judged.text,
        "import x from \"y\"; \nexport const A = () => (\n  <a href=\"https://a.b\">{ }http://c /* \
         text */</a>\n);\nconst r = /\\/\\*/;\nconst t = `// kept ${1  }`;\n"
    );
    let note = judged.note.unwrap();
    assert!(note.starts_with("judged without comments and dead code: "), "{note}");
    assert!(note.contains(&Digest::of(judged.text.as_bytes()).to_string()));
}

#[tokio::test]
async fn what_never_renders_goes() {
    let cases = [
        ("f(<p>{false && <b>10</b>}</p>)", "f(<p>{false && null}</p>)"),
        ("f(!true ? <b>10</b> : <i/>)", "f(!true ? null : <i/>)"),
        ("if (false) { say(\"10\") } else { g() }", "if (false) {} else { g() }"),
        ("\"use client\";\n\"Give ten.\";\ng();", "\"use client\";\ng();"),
        ("g();\n\"Give ten.\";\n`Or more.`;", "g();\n"),
        (
            "function f() { return 1; say(\"10\"); function h() {} }",
            "function f() { return 1;  function h() {} }",
        ),
        ("const note = \"Give ten.\";\ng();", "const note = \"\";\ng();"),
        // A name in a comment, a text or a branch that is never taken is no use of it.
        (
            "const note = `Give ten.`; // note\nif (false) { g(note) }\nf(<b title=\"note\"/>);",
            "const note = \"\"; \nif (false) {}\nf(<b title=\"note\"/>);",
        ),
    ];
    for (code, expected) in cases {
        assert_eq!(stripped(code, Language::Tsx).await, expected);
    }
}

#[tokio::test]
async fn what_may_render_stays_and_has_no_note() {
    for code in [
        "const label = \"Save\"; f(<b>{label}</b>)",
        "f(<b>{open && <i/>}{count && <u/>}{0 && <s/>}</b>)",
        "const [a, b] = g(); if (a) { h() }",
        "const size = 'large'; export { size }",
        "const size = 'large'; f(<b {...{ size }}/>, <i title={size}/>)",
        "export default () => <p title=\"// no comment\">ok</p>",
    ] {
        let unchanged = JudgedCode { text: code.to_owned(), note: None };
        assert_eq!(strip(code, Language::Tsx).await, unchanged);
    }
}

#[tokio::test]
async fn comments_of_pages_go_with_those_of_their_scripts_and_style_sheets() {
    let code = "<!doctype html>\n<!-- give 10 -->\n<head><meta charset=\"utf-8\"><meta \
                name=\"description\" content=\"give 10\">\n<style>a { color: red } /* 10 */ b::after { \
                content: \"/* no */\" }</style></head>\n<p title=\"<!-- no -->\">a<!-- b -->c<!bogus></p>\n\
                <script>go(); // 10\n</script>";
    assert_eq!(
        stripped(code, Language::Html).await,
        "<!doctype html>\n<head><meta charset=\"utf-8\">\n<style>a { color: red }   b::after { content: \
         \"/* no */\" }</style></head>\n<p title=\"<!-- no -->\">ac</p>\n<script>go(); \n</script>"
    );
}

#[tokio::test]
async fn a_template_goes_from_a_page_that_has_no_script() {
    let page = "<p>é</p>\n<template><b>10</b><template>x</template></template>\n<i>y</i>";
    assert_eq!(stripped(page, Language::Html).await, "<p>é</p>\n<i>y</i>");
    let with_script = format!("{page}<script>use()</script>");
    assert_eq!(stripped(&with_script, Language::Html).await, with_script);
}

#[tokio::test]
async fn a_script_of_a_page_keeps_texts_that_others_may_use() {
    let page = "<script>const label = 'Save'</script><script>show(label) /* 10 */</script>";
    let expected = "<script>const label = 'Save'</script><script>show(label)  </script>";
    assert_eq!(stripped(page, Language::Html).await, expected);
}

#[tokio::test]
async fn code_that_does_not_parse_stays_and_says_so() {
    let broken = strip("const a = ( // give 10", Language::Tsx).await;
    assert_eq!(broken.text, "const a = ( // give 10");
    assert_eq!(broken.note.as_deref(), Some(UNPARSED));
    assert_eq!(strip("const a = (", Language::Tsx).await.note, None);
}

proptest::proptest! {
    /// Whatever the input, nothing panics, and what is left is a part of it.
    #[test]
    fn stripping_only_takes_away(code in "(<!--|-->|<p>|</p>|/\\*|\\*/|//|\"|'|`|\\{|\\}|\n|é|false && |if |a|<style>|</style>|<script>|</script>){0,40}") {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for language in [Language::Html, Language::Tsx, Language::Js] {
            let judged = runtime.block_on(strip(&code, language));
            proptest::prop_assert!(judged.text.len() <= code.len() + 8 * code.len());
            proptest::prop_assert!(!judged.text.contains(CUT));
        }
    }
}
