// Stand-ins for imports that are not there. A component is a marked box that renders its children;
// a function gives the text of its arguments, as one that joins class names or translates does.
import { createElement } from 'react';

// Properties that React, promises and JSON ask of any value.
const UNKNOWN = new Set(['$$typeof', '_init', '_payload', 'childContextTypes', 'compare', 'contextType',
  'contextTypes', 'defaultProps', 'displayName', 'getDerivedStateFromError', 'getDerivedStateFromProps',
  'propTypes', 'render', 'then', 'toJSON', 'type']);

const box = (name, { className, style, children }) => createElement('div', {
  'data-stand-in': name,
  className: typeof className === 'string' ? className : undefined,
  style: { outline: '1px dashed #d946ef', minWidth: 16, minHeight: 16, ...(style ?? {}) },
}, typeof children === 'function' ? undefined : children);

export const standIn = (name) => {
  const members = new Map();
  function target(...values) {
    const [first] = values;
    // React calls a component with its properties and one more argument.
    const isRendered = values.length === 2 && typeof first === 'object' && first !== null && values[1] === undefined;
    if (isRendered) return box(name, first);
    const makesComponent = Array.isArray(first?.raw) || values.some((value) => typeof value === 'function');
    return makesComponent ? self : values.filter((value) => typeof value === 'string').join(' ');
  }
  const self = new Proxy(target, {
    get: (own, key) => {
      if (key === Symbol.toPrimitive) return () => '';
      if (typeof key === 'symbol' || Object.hasOwn(own, key)) return own[key];
      if (UNKNOWN.has(key)) return undefined;
      if (!members.has(key)) members.set(key, standIn(`${name}.${key}`));
      return members.get(key);
    },
  });
  return self;
};

// The classes of a style sheet that is not there are named by themselves.
export const styles = () => new Proxy({}, { get: (_, key) => typeof key === 'string' ? key : undefined });

export const picture = () => "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>";
