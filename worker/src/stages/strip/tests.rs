use super::*;

async fn stripped(code: &str, language: Language) -> String {
    strip(code, language).await.text
}

#[tokio::test]
async fn script_comments_are_removed_and_lookalikes_kept() {
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
    assert!(note.contains(&Digest::from_content(judged.text.as_bytes()).to_string()));
}

#[tokio::test]
async fn non_rendering_code_is_removed() {
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
        // A name in a comment, a text or a dead branch is no use of it.
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
async fn possibly_rendering_code_is_kept_without_a_note() {
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
async fn page_script_and_style_comments_are_removed() {
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
async fn template_is_removed_from_a_page_without_scripts() {
    let page = "<p>é</p>\n<template><b>10</b><template>x</template></template>\n<i>y</i>";
    assert_eq!(stripped(page, Language::Html).await, "<p>é</p>\n<i>y</i>");
    let with_script = format!("{page}<script>use()</script>");
    assert_eq!(stripped(&with_script, Language::Html).await, with_script);
}

#[tokio::test]
async fn hidden_elements_are_removed() {
    for (code, expected) in [
        ("f(<p><b hidden>10</b>x</p>)", "f(<p><i hidden />x</p>)"),
        ("f(<p>{a && <b style={{ display: 'none' }}>10</b>}</p>)", "f(<p>{a && <i hidden />}</p>)"),
        ("f(<div hidden={true}><div>10</div></div>)", "f(<i hidden />)"),
    ] {
        assert_eq!(stripped(code, Language::Tsx).await, expected);
    }
    for (code, expected) in [
        ("<div hidden>10<div>x</div></div><p>y</p>", "<i hidden></i><p>y</p>"),
        ("<section style=\"display: none;\">10</section>y", "<i hidden></i>y"),
        ("<li><nav hidden><ul><li>1<br></li></ul></nav>y", "<li><i hidden></i>y"),
    ] {
        assert_eq!(stripped(code, Language::Html).await, expected);
    }
}

/// Elements that a class, a state, a name, a script, a style sheet or an early end of the element
/// may show.
#[tokio::test]
async fn possibly_shown_elements_are_kept() {
    for code in [
        "f(<b hidden={closed}>x</b>)",
        "f(<b hidden className=\"flex\">x</b>)",
        "f(<b hidden={true} {...more}>x</b>)",
        "f(<b style={{ display: open ? 'block' : 'none' }}>x</b>)",
        "f(<b style={{ display: 'none', ...more }}>x</b>)",
        "f(<b id=\"menu\" style={{ display: 'none' }}>x</b>)",
        "f(<Panel hidden>x</Panel>)",
        "f(<b hidden=\"false\">x</b>)",
        "f(<b hidden data-state=\"open\">x</b>)",
        "f(<select><option hidden>Country</option></select>)",
        "f(<p><svg style={{ display: 'none' }}><symbol id=\"x\"/></svg><Icon of=\"x\"/></p>)",
        "f(<div hidden><svg><symbol id=\"x\"/></svg></div>)",
        "f(<div hidden><Dialog open/></div>)",
        "f(<div hidden>{intoBody(<p>x</p>)}</div>)",
        "f(<p><style hidden>{'p { color: red }'}</style></p>)",
        "f(<p><style>{'b { display: block }'}</style><b hidden>x</b></p>)",
        "import './a.css'; f(<b hidden>x</b>)",
        "const Box = styled.div`b { display: block }`; f(<Box><b hidden>x</b></Box>)",
        "f(<p className=\"[&>b]:block\"><b hidden>x</b></p>)",
        "f(<p ref={show}><b hidden>x</b></p>)",
        "document.querySelector('b').hidden = false; f(<b hidden>x</b>)",
        "const label = 'Save'; f(<p ref={show}><b hidden><i title={label}/></b></p>)",
    ] {
        assert_eq!(stripped(code, Language::Tsx).await, code);
    }
    for code in [
        "<p hidden><div>shown</div></p>",
        "<div hidden>never closed",
        "<div hidden class=\"flex\">x</div>",
        "<div hidden>x</div><script>show()</script>",
        "<style>div { display: block }</style><div hidden>x</div>",
        "<link rel=\"stylesheet\" href=\"a.css\"><div hidden>x</div>",
        "<body onload=\"show()\"><div hidden>x</div>",
        "<div><section><div hidden>x</section><p>shown</p></div>",
        "<div><table><td><div hidden>x<td>shown</table></div>",
        "<ul><li><div hidden>x<li>shown</li></div>",
        "<div hidden><svg><symbol id=\"x\"/></svg></div><svg><use href=\"#x\"/></svg>",
        "<select><option><div hidden>shown</div></select>",
        "<div><template shadowrootmode=\"open\"><p>shown</p></template></div>",
    ] {
        assert_eq!(stripped(code, Language::Html).await, code);
    }
}

#[tokio::test]
async fn page_script_keeps_texts_that_others_may_use() {
    let page = "<script>const label = 'Save'</script><script>show(label) /* 10 */</script>";
    let expected = "<script>const label = 'Save'</script><script>show(label)  </script>";
    assert_eq!(stripped(page, Language::Html).await, expected);
}

#[tokio::test]
async fn unparseable_code_is_kept_with_a_note() {
    let broken = strip("const a = ( // give 10", Language::Tsx).await;
    assert_eq!(broken.text, "const a = ( // give 10");
    assert_eq!(broken.note.as_deref(), Some(UNPARSED));
    assert_eq!(strip("const a = (", Language::Tsx).await.note, None);
}

proptest::proptest! {
    /// Stripping panics on no input, and its result is a part of the input.
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

#[tokio::test]
async fn deep_code_is_traversed_on_a_large_stack() {
    for after in [".a", " as any", " in a"] {
        let code = format!("export default () => a{}; // 10", after.repeat(20_000));
        let judged = strip(&code, Language::Tsx).await;
        assert_eq!(judged.text, code.replace("// 10", ""));
    }
    let nested = ["[".repeat(20_000), "]".repeat(20_000)].concat();
    let page = format!("<p>text</p><script>show({nested}) /* 10 */</script>");
    assert_eq!(stripped(&page, Language::Html).await, page.replace("/* 10 */", " "));
    let page = format!("<script>{}</script><!-- 10 -->", "[".repeat(100_000));
    assert_eq!(stripped(&page, Language::Html).await, page.replace("<!-- 10 -->", ""));
}
