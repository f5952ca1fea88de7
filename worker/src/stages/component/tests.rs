use super::*;

async fn compiled(code: &str) -> ComponentModule {
    compile(code, Language::Tsx).await.unwrap()
}

#[tokio::test]
async fn types_and_jsx_are_compiled_away() {
    let module = compiled(
        "import type { Size } from './types';\nimport { useState, type FC } from 'react';\n\
         import { Unused } from './unused';\n\
         interface Props { label: string; size?: Size }\n\
         enum Tone { Calm = 'calm' }\n\
         const Button: FC<Props> = ({ label }) => {\n\
           const [on] = useState<boolean>(false);\n\
           return <button className={Tone.Calm as string} disabled={on!}>{label}</button>;\n\
         };\nexport default Button;\n",
    )
    .await;
    assert_eq!(module.candidates, ["default"]);
    let imported: Vec<_> = module.imports.keys().collect();
    assert_eq!(imported, ["react", "react/jsx-runtime"], "{}", module.script);
    for gone in ["interface", "<button", "boolean", "Size", "Unused"] {
        assert!(!module.script.contains(gone), "{gone}: {}", module.script);
    }
}

#[tokio::test]
async fn the_default_export_comes_first_and_then_the_last_one() {
    let code = "export const Card = () => <p />;\nexport function Row() { return <p />; }\n\
                export const useRow = () => 1;\nclass List {}\nexport { List, Card as Tile };\n";
    assert_eq!(compiled(code).await.candidates, ["Tile", "List", "Row", "Card"]);
    let code = format!("{code}export default Card;\nexport const After = Card;\n");
    assert_eq!(compiled(&code).await.candidates[..2], ["default", "After"]);
}

#[tokio::test]
async fn imports_are_recorded_by_their_used_names() {
    let module = compiled(
        "import Image, { Fill as F } from 'next/image';\nimport * as Dialog from '@radix-ui/dialog';\n\
         import './page.css';\nimport data from './data.json' with { type: 'json' };\n\
         export { Footer } from './Footer';\nexport * from './more';\n\
         const Late = lazy(() => import('./Late'));\n\
         export default () => <Dialog.Root a={data}><Image /><F /><Late /></Dialog.Root>;\n",
    )
    .await;
    let names = |specifier: &str| -> Vec<(String, String)> {
        module.imports[specifier].clone().into_iter().collect()
    };
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, shown)| ((*name).to_owned(), (*shown).to_owned())).collect()
    };
    assert_eq!(names("next/image"), pairs(&[("Fill", "Fill"), ("default", "Image")]));
    assert_eq!(names("@radix-ui/dialog"), pairs(&[("Root", "Dialog.Root")]));
    assert_eq!(names("./page.css"), []);
    assert_eq!(names("./data.json"), pairs(&[("default", "data")]));
    assert_eq!(names("./Footer"), pairs(&[("Footer", "Footer")]));
    assert_eq!(names("./more"), []);
    assert_eq!(names("./Late"), pairs(&[("default", "./Late")]));
    assert!(!module.script.contains("with {"), "{}", module.script);
}

#[tokio::test]
async fn code_without_a_module_has_a_reason() {
    let broken = compile("export default () => <p>;\n", Language::Tsx).await.unwrap_err();
    assert!(broken.to_string().starts_with("does not parse: 1:"), "{broken}");
    let twice = compile("const a = 1;\nconst a = 2;\nexport default () => 1;", Language::Jsx).await;
    assert!(twice.unwrap_err().to_string().starts_with("does not parse: 1:7"));
    let none = compile("const Card = () => <p />;\n", Language::Jsx).await;
    assert_eq!(none, Err(ComponentError::NoComponent));
    let itself =
        "import { createRoot } from 'react-dom/client';\ncreateRoot(root).render(<p />);\n";
    assert_eq!(compile(itself, Language::Jsx).await.unwrap().candidates, [""; 0]);
}

#[tokio::test]
async fn deep_code_is_compiled_on_a_large_stack() {
    let shapes = [
        ("<p>", "</p>"),
        ("[", "]"),
        ("() => ", ""),
        ("{ a: [", "] }"),
        ("- ", ""),
        ("", ".a"),
        ("", "!"),
        ("", " as any"),
        ("", " in a"),
        ("", " + a"),
        ("", "?.a"),
        ("", "``"),
        ("a ? a : ", ""),
        ("await ", ""),
    ];
    for (open, close) in shapes {
        let nested = [open.repeat(10_000), "(a)".to_owned(), close.repeat(10_000)].concat();
        let code = format!("export default async () => ({nested});");
        let compiled = compile(&code, Language::Tsx).await;
        assert!(compiled.is_ok(), "{open}{close}: {compiled:?}");
    }
}

#[tokio::test]
async fn exponentially_parsed_code_is_not_compiled() {
    let code = format!("export default () => a{};", ".a".repeat(500_000));
    let refused = compile(&code, Language::Tsx).await.unwrap_err();
    assert_eq!(refused.to_string(), "too large or too deeply nested to be compiled");
}
