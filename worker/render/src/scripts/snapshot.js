// Description and changes of a page, called with the names of the properties to describe.
((properties) => {
  const REPLACED = new Set(['img', 'svg', 'canvas', 'video', 'iframe', 'input', 'textarea', 'select', 'button', 'progress', 'meter', 'hr']);
  // In characters: hostile code names elements by megabytes.
  const MAX_TEXT = 80, MAX_NAME = 200, MAX_PATH = 1000, MAX_VALUE = 1000, MAX_ADDRESS = 1000, MAX_SNAPSHOT = 30e6;
  const MAX_CLASSES = 50;
  let elements, indexes, paths, unchanged, undo = () => {};

  const ownText = (element) => [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
    .map((node) => node.data.trim()).join(' ').trim();
  // Data URIs and other long addresses are named by a digest (FNV-1a): they may be megabytes long.
  const shortened = (address) => {
    if (!address.startsWith('data:') && address.length <= MAX_ADDRESS) return address;
    const digest = (begin) => {
      let hash = begin;
      for (let place = 0; place < address.length; place += 1) hash = Math.imul(hash ^ address.charCodeAt(place), 0x01000193);
      return (hash >>> 0).toString(16).padStart(8, '0');
    };
    return `data:${digest(0x811c9dc5)}${digest(0)}`;
  };
  const withShortAddresses = (value) => value.includes('data:')
    ? value.replace(/url\("(data:[^"]*)"\)/g, (_, address) => `url("${shortened(address)}")`) : value;
  // A longer value is as unknown as one that the browser does not compute: a part of it means something else.
  const valueOf = (style, name) => {
    const value = withShortAddresses(style.getPropertyValue(name));
    return value.length > MAX_VALUE ? '' : value;
  };
  // Elements that may show a picture without naming it.
  const CANVASES = new Set(['canvas', 'iframe', 'object', 'video']);
  const imageOf = (element, background) => {
    const name = element.localName;
    const source = name === 'svg' ? element.querySelector('image')?.href?.baseVal ?? 'svg'
      : element.getAttribute(name === 'object' ? 'data' : 'src') ?? (CANVASES.has(name) ? name : null);
    if (source !== null) return shortened(source);
    return background.match(/url\("([^"]*)"\)/)?.[1] ?? null;
  };

  const list = () => {
    elements = [...document.querySelectorAll('html, body, body *')];
    indexes = new Map(elements.map((element, index) => [element, index]));
    paths = new Map();
    unchanged = undefined;
  };
  const pathOf = (element) => {
    if (element === document.documentElement) return 'html';
    if (element === document.body) return 'body';
    let path = paths.get(element);
    if (path === undefined) {
      const parent = element.parentElement;
      const place = Array.prototype.indexOf.call(parent.children, element) + 1;
      path = `${pathOf(parent)} > ${element.localName.slice(0, MAX_NAME)}:nth-child(${place})`;
      // A selector of the last steps of a deep tree.
      if (path.length > MAX_PATH) path = path.slice(path.indexOf(' > ', path.length - MAX_PATH) + 3);
      paths.set(element, path);
    }
    return path;
  };
  const known = new Map();
  const channels = (color) => {
    if (!known.has(color)) known.set(color, read(color));
    return known.get(color);
  };
  const read = (color) => {
    const context = new OffscreenCanvas(1, 1).getContext('2d');
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  // The color of the root, else of the body, covers the canvas.
  const canvasColor = () => {
    for (const element of [document.documentElement, document.body]) {
      const color = element && channels(getComputedStyle(element).backgroundColor);
      if (color && color[3] > 0) return color;
    }
    return [255, 255, 255, 255];
  };

  const boxOf = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x + scrollX, y + scrollY, width, height];
  };
  const describe = (element, index) => {
    const style = getComputedStyle(element), rect = boxOf(element);
    const styles = Object.fromEntries(properties.map((name) => [name, valueOf(style, name)]));
    const isInDrawing = element.ownerSVGElement !== undefined && element.ownerSVGElement !== null;
    return {
      index, parent: indexes.get(element.parentElement) ?? null, tag: element.localName.slice(0, MAX_NAME),
      id: element.getAttribute('id')?.slice(0, MAX_NAME) || null, path: pathOf(element),
      classes: [...element.classList].slice(0, MAX_CLASSES).map((name) => name.slice(0, MAX_NAME)),
      text: String(ownText(element) || element.value || element.placeholder || '').slice(0, MAX_TEXT),
      rect, styles, visible: rect[2] > 0 && rect[3] > 0 && style.visibility !== 'hidden' && !isInDrawing,
      image: imageOf(element, styles['background-image'] ?? ''),
    };
  };
  // Styles take most of the time. A change reaches those of its elements, of what is in them, and of boxes of another size.
  const describeChanged = (changed) => {
    const reached = new Set(changed);
    return elements.map((element, index) => {
      if (reached.has(element.parentElement)) reached.add(element);
      const before = unchanged[index], rect = boxOf(element);
      const isResized = rect[2] !== before.rect[2] || rect[3] !== before.rect[3];
      return reached.has(element) || isResized ? describe(element, index) : { ...before, rect };
    });
  };
  // As text, which the debugging protocol passes on several times as fast as objects.
  const snapshot = (changed) => {
    const described = JSON.stringify({
      width: innerWidth, height: innerHeight, scale: devicePixelRatio, background: canvasColor(),
      content: [document.scrollingElement.scrollWidth, document.scrollingElement.scrollHeight],
      browser_drawn: browserDrawn(boxOf), elements: describeChanged(changed),
    });
    if (described.length > MAX_SNAPSHOT) throw new Error('its styles are too long to be described');
    return described;
  };

  const isTransparent = (color) => /^(transparent|rgba\(.*, 0\))$/.test(color);
  const paints = (element) => {
    const style = getComputedStyle(element);
    if (style.visibility === 'hidden') return false;
    const hasGenerated = ['::before', '::after'].some((part) => !['none', 'normal'].includes(getComputedStyle(element, part).content));
    if (hasGenerated || !isTransparent(style.backgroundColor) || style.backgroundImage !== 'none') return true;
    if (element === document.body || element === document.documentElement) return ownText(element) !== '';
    const rect = element.getBoundingClientRect();
    if (rect.width <= 0 || rect.height <= 0) return false;
    return REPLACED.has(element.localName) || ownText(element) !== '' || style.boxShadow !== 'none'
      || (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0)
      || ['top', 'right', 'bottom', 'left'].some((side) => parseFloat(style.getPropertyValue(`border-${side}-width`)) > 0);
  };
  const SILENT = new Set(['script', 'style', 'template', 'noscript', 'title', 'meta', 'link']);
  const pending = (image) => image.complete || image.loading === 'lazy' ? null
    : new Promise((resolve) => { for (const end of ['load', 'error']) image.addEventListener(end, resolve); });

  // The document and every shadow root in it.
  const roots = () => {
    const found = [document];
    for (const root of found) {
      for (const element of root.querySelectorAll('*')) if (element.shadowRoot) found.push(element.shadowRoot);
    }
    return found;
  };
  // Animations of scripts and of drawings follow the clock of the machine, not the page's own.
  const rest = () => {
    for (const root of roots()) {
      for (const animation of root.getAnimations()) {
        try { animation.finish(); } catch { animation.cancel(); } // One without an end has no state at its end.
      }
      for (const drawing of root.querySelectorAll('svg')) {
        drawing.pauseAnimations();
        drawing.setCurrentTime(0);
      }
    }
  };
  // Waits for fonts, pictures and two frames, unless the page is too large to be measured.
  const settle = async (maxElements) => {
    const count = () => roots().reduce((sum, root) => sum + root.querySelectorAll('*').length, 0);
    if (count() > maxElements) return { elements: count(), is_empty: false };
    await document.fonts.ready;
    await Promise.all(roots().flatMap((root) => [...root.querySelectorAll('img')]).map(pending));
    rest();
    for (let frame = 0; frame < 2; frame += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
    list();
    return {
      elements: count(),
      is_empty: !roots().some((root) => [...root.querySelectorAll('*')]
        .some((element) => !SILENT.has(element.localName) && paints(element))),
    };
  };
  // Makes changes above the page's own styles in the place of the last ones, and describes it.
  const change = (changes) => {
    undo();
    rest();
    unchanged ??= elements.map(describe);
    const steps = [];
    for (const { elements: places, edit } of changes) for (const place of places) {
      const element = elements[place], before = element.getAttribute('style');
      steps.unshift(() => before === null ? element.removeAttribute('style') : element.setAttribute('style', before));
      const [property, value] = edit === 'remove' ? ['display', 'none'] : [edit.declare.property, edit.declare.value];
      const [first, last] = [value.split(' ')[0], value.split(' ').at(-1)];
      const declarations = property === 'size' ? [['width', first], ['height', last]] : [[property, value]];
      for (const [name, own] of declarations) element.style.setProperty(name, own, 'important');
    }
    undo = () => steps.forEach((step) => step());
    rest();
    return snapshot(changes.flatMap((change) => change.elements.map((place) => elements[place])));
  };
  globalThis.juror = { settle, change };
})
