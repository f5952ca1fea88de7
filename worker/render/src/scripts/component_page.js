// Prepares a page for React: reasons in the place of numbers, and its work in the page's own time.
(() => {
  // Errors that the builds for production say by number alone.
  const REASONS = {
    31: 'an object is no valid child of an element',
    130: 'an element has a type that is neither a component nor a tag',
    152: 'a component returned nothing',
    185: 'a component updates itself without an end',
    299: 'createRoot was given no element of the page',
    300: 'fewer hooks than in the rendering before',
    301: 'a component updates itself without an end',
    310: 'more hooks than in the rendering before',
    321: 'a hook is called outside of a component',
    482: 'a component is an async function',
  };
  __juror.explainBy((text) => {
    const number = /^Minified React error #(\d+)/.exec(text)?.[1];
    return number === undefined ? text : REASONS[number] ?? `React's error ${number}`;
  });
  // Every bundler puts this constant in its place.
  window.process ??= { env: { NODE_ENV: 'production' } };
  window.setImmediate = (callback) => setTimeout(callback, 0);
})();
