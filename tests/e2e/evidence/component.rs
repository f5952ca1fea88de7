//! Evidence of components that the built-in renderer mounts.

use super::card::{Card, blank};
use serde_json::json;
use std::fs;

pub(super) const BUTTON: &str = r##"import { useEffect, useState, type ReactNode } from 'react';

interface CardProps { title: string; children?: ReactNode }
enum Tone { Strong = '#1d4ed8' }

function Card({ title, children }: CardProps) {
  const [shown, setShown] = useState<string>('');
  useEffect(() => { setShown(title); }, [title]);
  return (
    <section style={{ padding: 12, border: '1px solid #e2e8f0', background: '#ffffff', font: '14px sans-serif' }}>
      <p>{shown}</p>
      {children}
    </section>
  );
}

export default function SaveCard({ title = 'Unsaved changes' }: Partial<CardProps>) {
  return (
    <Card title={title}>
      <button style={{ background: Tone.Strong, color: 'white', border: 0, padding: '8px 16px' }}>Save</button>
    </Card>
  );
}
"##;

/// The same card with Tailwind classes.
const CLASSES: &str = r#"export const SaveCard = () => (
  <section className="m-4 rounded-lg border border-slate-200 bg-white p-3 text-sm shadow">
    <p className="mb-2 font-semibold">Unsaved changes</p>
    <button className="rounded bg-blue-700 px-4 py-2 text-white">Save</button>
  </section>
);
"#;

pub(super) fn drawn(code: &str) -> Card {
    Card::of_code(code, "tsx")
}

#[test]
fn component_equal_to_its_screenshot_has_no_region_and_a_wrong_color_has() {
    let card = drawn(BUTTON);
    let equal = card.run("equal", 0);
    assert_eq!(equal["evidence"]["source"], "browser");
    assert_eq!(equal["evidence"]["regions"], json!([]));
    assert_eq!(equal["evidence"]["partial"], json!([]));
    assert_eq!(equal["evidence"]["frame"], json!(null));
    assert_eq!(equal["generation"]["renders"], true);

    card.write_code(&BUTTON.replace("#1d4ed8", "#16a34a"), "tsx");
    let region = &card.run("planted", 0)["evidence"]["regions"][0];
    assert_eq!(
        (&region["element"]["tag"], &region["element"]["text"]),
        (&json!("button"), &json!("Save"))
    );
    assert_eq!(region["property"], "background-color");
    assert_eq!(region["should_be"].as_str().unwrap().to_lowercase(), "#1d4ed8");
    assert!(region["explains"].as_f64().unwrap() > 0.9, "{region}");
}

#[test]
fn tailwind_classes_are_rendered_unless_disabled() {
    let card = drawn(CLASSES);
    card.write_code(&CLASSES.replace("bg-blue-700", "bg-green-600"), "tsx");
    let region = &card.run("planted", 0)["evidence"]["regions"][0];
    assert_eq!(
        (&region["element"]["tag"], &region["property"]),
        (&json!("button"), &json!("background-color"))
    );
    card.write_code(CLASSES, "tsx");
    assert_eq!(card.run("equal", 0)["evidence"]["regions"], json!([]));
    card.settings("[render]\ntailwind = \"off\"\n");
    assert_ne!(card.run("plain", 0)["evidence"]["regions"], json!([]));
    card.settings("[render]\ntailwind = \"sometimes\"\n");
    card.refused(&["unknown value \"sometimes\"; use 'auto', 'on' or 'off'"]);
}

#[test]
fn a_component_gets_the_props_of_its_item() {
    let card = drawn(BUTTON);
    card.write_line(
        &json!({"generated_code": BUTTON, "language": "tsx", "props": {"title": "Two more"}}),
    );
    let region = &card.run("props", 0)["evidence"]["regions"][0];
    assert_eq!(region["element"]["text"], "Two more");
}

#[test]
fn missing_import_becomes_a_placeholder_and_is_reported() {
    let card = drawn(BUTTON);
    let code = BUTTON.replace(
        "\ninterface",
        "import { Panel } from '@acme/ui';\nimport * as Menu from './menu';\nimport { cn } from '@/lib/utils';\n\
         import './card.css';\n\ninterface",
    );
    let code = code.replace(
        "{children}",
        "<Panel className={cn('a', 'b')}><Menu.Root>{children}</Menu.Root></Panel>",
    );
    card.write_code(&code, "tsx");
    let partial = card.run("partial", 0);
    let names = json!(["./card.css", "./menu", "@/lib/utils", "@acme/ui"]);
    assert_eq!(partial["evidence"]["partial"], names);
    assert_ne!(partial["evidence"]["regions"], json!([]), "the boxes are marked");
    assert_eq!(
        partial["evidence"],
        card.run("kept", 0)["evidence"],
        "a cached render reports it too"
    );

    // The same import from a folder of modules.
    card.write("modules/@acme/ui/index.mjs", "export const Panel = ({ children }) => children;\n");
    card.settings("[render]\nmodules = \"modules\"\n");
    let code = BUTTON.replace("\ninterface", "import { Panel } from '@acme/ui';\n\ninterface");
    card.write_code(&code.replace("{children}", "<Panel>{children}</Panel>"), "tsx");
    let own = card.run("own", 0);
    assert_eq!(
        (&own["evidence"]["partial"], &own["evidence"]["regions"]),
        (&json!([]), &json!([]))
    );
}

#[test]
fn icons_are_rendered_and_missing_ones_are_reported() {
    let icons = |icon: &str| {
        format!(
            "import {{ {icon} }} from 'lucide-react';\nexport default () => <{icon} size={{80}} />;\n"
        )
    };
    let card = drawn(&icons("Check"));
    card.write_code(&icons("CheckIcon"), "tsx");
    let same = card.run("same", 0);
    assert_eq!(
        (&same["evidence"]["partial"], &same["evidence"]["regions"]),
        (&json!([]), &json!([]))
    );
    card.write_code(&icons("House"), "tsx");
    assert_ne!(card.run("other", 0)["evidence"]["regions"], json!([]));
    card.write_code(&icons("NoSuchIcon"), "tsx");
    let evidence = &card.run("absent", 0)["evidence"];
    assert_eq!(evidence["partial"], json!(["lucide-react (NoSuchIcon)"]));
}

#[test]
fn non_component_code_is_a_finding() {
    let card = drawn(BUTTON);
    for (code, reason) in [
        ("export default () => <p>;", "does not parse: 1:25: "),
        ("const Card = () => <p>a</p>;", "exports no component"),
        ("export default () => <p>{{}}</p>;", "throws: an object is no valid child of an element"),
        ("export default () => <p>{missing}</p>;", "throws: missing is not defined"),
        (
            "import { useFoo } from 'react';\nexport default () => useFoo();",
            "throws: The requested module 'react'",
        ),
        (
            "import { make } from './make';\nexport default () => make('a').b.c;",
            "(not there: ./make)",
        ),
        ("export default () => null;", "renders nothing"),
    ] {
        card.write_code(code, "tsx");
        let result = card.run(&format!("run{}", code.len()), 0);
        let error =
            result["evidence"]["error"].as_str().unwrap_or_else(|| panic!("{code}: {result}"));
        assert!(error.contains(reason), "{code}: {error}");
        assert_eq!(result["generation"]["renders"], false);
        assert_eq!(result["outcome"], "scored");
    }
}

#[test]
fn self_mounting_component_is_rendered() {
    let card = drawn(BUTTON);
    let code = "import { createRoot } from 'react-dom/client';\nfunction App() { return <p>text</p>; }\n\
                createRoot(document.getElementById('root')!).render(<App />);\n";
    card.write_code(code, "tsx");
    let evidence = &card.run("itself", 0)["evidence"];
    assert_eq!(evidence["error"], json!(null), "{evidence}");
    assert_ne!(evidence["regions"], json!([]));
}

#[test]
fn two_processes_render_a_component_with_equal_bytes() {
    let one = drawn(CLASSES);
    let picture = one.rendered("first");
    assert_ne!(picture, blank());
    assert_eq!(picture, drawn(CLASSES).rendered("first"));
}

#[test]
fn configured_modules_are_part_of_the_cache_key() {
    let card = drawn("import { Panel } from 'panel';\nexport default () => <Panel>a</Panel>;\n");
    card.settings("[render]\nmodules = \"modules\"\n[evidence]\ntrials = 0\n");
    let module = |tag: &str| {
        format!(
            "import {{ createElement }} from 'react';\nexport const Panel = (props) => createElement('{tag}', props);\n"
        )
    };
    card.write("modules/panel.js", module("h1"));
    let first = card.run("h1", 0)["evidence"]["pixels_equal"].clone();
    card.write("modules/panel.js", module("small"));
    assert_ne!(card.run("small", 0)["evidence"]["pixels_equal"], first);
    fs::remove_dir_all(card.0.path("modules")).unwrap();
    card.refused(&["--evidence facts: render.modules: modules: "]);
    card.settings("[render]\nmodules = \"modules\"\n[evidence]\nmode = \"facts\"\n");
    let gone = card.0.juror(&["run", "manifest.jsonl", "--run-id", "gone"]).exits(0);
    let gone = gone.stderr_contains(&["render.modules: modules: ", "without measured evidence"]);
    assert_eq!(gone.stderr.matches("render.modules").count(), 1, "{}", gone.stderr);
    assert_eq!(card.0.result("gone", "card")["evidence"], json!(null));
}

#[test]
fn tailwind_cdn_script_is_served_locally_and_its_version_reported() {
    let html = "<!doctype html><script src=\"https://cdn.tailwindcss.com\"></script>\n\
                <script>tailwind.config = {};</script><p class=\"bg-blue-700 p-4 text-white\">Save</p>";
    let card = Card::of_code(html, "html");
    let result = card.run("cdn", 0);
    assert_eq!(result["evidence"]["partial"], json!(["cdn.tailwindcss.com (Tailwind 4.3.4)"]));
    assert_eq!(result["evidence"].get("refused"), None);
    card.settings("[render]\ntailwind = \"off\"\n");
    let off = card.run("off", 0);
    assert_eq!(off["evidence"]["refused"], json!(["https://cdn.tailwindcss.com/"]));
    assert_ne!(off["evidence"]["regions"], json!([]));
}
