#!/usr/bin/env bash
# Writes the modules in this folder anew from their npm packages: React and its facades, Tailwind's
# browser build, Lucide's icons, their licences and SHA256SUMS.
#
#   config/render/bundle.sh
#
# Needs node and npm. The versions stand here; after a change, run the tests of juror-render.
set -euo pipefail

REACT=19.3.1
TAILWIND=4.3.4
LUCIDE=1.75.0
ESBUILD=0.28.2

folder=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . \
    "react@$REACT" "react-dom@$REACT" "@tailwindcss/browser@$TAILWIND" \
    "lucide-react@$LUCIDE" "esbuild@$ESBUILD"

# One bundle holds all of React, so that every module shares one copy of its state.
cat > bundle.js <<'END'
export { default as React } from 'react';
export { default as ReactDom } from 'react-dom';
export { default as ReactDomClient } from 'react-dom/client';
export { default as JsxRuntime } from 'react/jsx-runtime';
END
NODE_ENV=production npx esbuild bundle.js --bundle --minify --format=esm --target=chrome112 \
    --define:process.env.NODE_ENV='"production"' --legal-comments=inline --log-level=warning \
    --outfile="$folder/react.bundle.js"

# A facade exports by name what a module of the bundle holds.
cat > facade.cjs <<'END'
process.env.NODE_ENV = 'production';
const [name, member] = process.argv.slice(2);
const names = Object.keys(require(name)).filter((key) => !key.startsWith('__')).sort();
console.log(`import { ${member} } from '/modules/react.bundle.js';
export default ${member};
export const { ${names.join(', ')} } = ${member};`);
END
node facade.cjs react React > "$folder/react.js"
node facade.cjs react-dom ReactDom > "$folder/react-dom.js"
node facade.cjs react-dom/client ReactDomClient > "$folder/react-dom-client.js"
node facade.cjs react/jsx-runtime JsxRuntime > "$folder/react-jsx-runtime.js"

# The maker of icons is a module; the icons are lines, of which a page gets those that it imports:
# "Check check [nodes]", or "=Check" for another name of that one.
echo "export { createLucideIcon, Icon, LucideProvider, useLucideContext } from 'lucide-react';" > lucide.js
npx esbuild lucide.js --bundle --minify --format=esm --target=chrome112 --external:react \
    --legal-comments=none --log-level=warning --outfile="$folder/lucide.js"
cat > icons.mjs <<'END'
import * as lucide from './node_modules/lucide-react/dist/esm/lucide-react.mjs';
import { readdirSync } from 'node:fs';
const folder = new URL('./node_modules/lucide-react/dist/esm/icons/', import.meta.url);
const data = new Map();
for (const file of readdirSync(folder).filter((name) => name.endsWith('.mjs') && name !== 'index.mjs')) {
  const { __iconData, default: icon } = await import(new URL(file, folder));
  if (__iconData) data.set(icon, __iconData);
}
const lines = [], first = new Map();
const names = Object.keys(lucide).filter((name) => data.has(lucide[name])).sort();
const isOwn = (name) => Object.hasOwn(lucide.icons, name);
for (const name of [...names.filter(isOwn), ...names.filter((name) => !isOwn(name))]) {
  const icon = lucide[name], { name: file, node } = data.get(icon);
  const plain = node.map(([tag, { key, ...attributes }]) => [tag, attributes]);
  lines.push(first.has(icon) ? `${name} =${first.get(icon)}` : `${name} ${file} ${JSON.stringify(plain)}`);
  if (!first.has(icon)) first.set(icon, name);
}
// "CheckIcon" and "LucideCheck" follow from "Check".
const known = new Set(lines.map((line) => line.split(' ')[0]));
const follows = (name) => known.has(name.replace(/Icon$/, '')) && name.endsWith('Icon')
  || known.has(name.replace(/^Lucide/, '')) && name.startsWith('Lucide');
console.log(lines.filter((line) => !follows(line.split(' ')[0])).sort().join('\n'));
END
node icons.mjs > "$folder/lucide-icons.txt"

cp node_modules/@tailwindcss/browser/dist/index.global.js "$folder/tailwind.js"
cp node_modules/react/LICENSE "$folder/LICENSE-react"
cp node_modules/lucide-react/LICENSE "$folder/LICENSE-lucide"
cp node_modules/@tailwindcss/browser/LICENSE "$folder/LICENSE-tailwind"
cd "$folder"
printf 'lucide %s\nreact %s\ntailwind %s\n' "$LUCIDE" "$REACT" "$TAILWIND" > VERSIONS
sha256sum LICENSE-* VERSIONS *.js *.txt > SHA256SUMS
