// Mounts a component, unless its module has done so itself.
import { createElement } from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { candidates, props } from '/given.js';
import * as component from '/component.js';

const isComponent = (value) => typeof value === 'function'
  || (typeof value === 'object' && value !== null && '$$typeof' in value && !('props' in value));
const container = document.getElementById('root');
const isMounted = Object.keys(container).some((key) => key.startsWith('__reactContainer'));
if (!isMounted && candidates.length > 0) {
  const name = candidates.find((candidate) => isComponent(component[candidate]));
  if (name === undefined) throw new TypeError(`its export ${candidates[0]} is no component`);
  flushSync(() => createRoot(container).render(createElement(component[name], props)));
}
