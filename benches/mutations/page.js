window.elements = [...document.querySelectorAll('html, body, body *')];
window.applyChanges = (changes, priority) => {
  const undo = [];
  for (const change of changes) for (const index of change.elements) {
    const element = elements[index], before = element.getAttribute('style');
    undo.push(() => before === null ? element.removeAttribute('style') : element.setAttribute('style', before));
    const [property, value] = change.edit === 'remove' ? ['display', 'none'] : [change.edit.declare.property, change.edit.declare.value];
    const [first, last] = [value.split(' ')[0], value.split(' ').at(-1)];
    const declarations = property === 'size' ? [['width', first], ['height', last]] : [[property, value]];
    for (const [name, own] of declarations) element.style.setProperty(name, own, priority);
  }
  return () => undo.reverse().forEach((step) => step());
};
window.pathOf = (element) => {
  const parts = [];
  for (let at = element; at && at !== document.documentElement; at = at.parentElement) {
    const alike = at.parentElement ? [...at.parentElement.children] : [at];
    parts.unshift(at === document.body ? 'body' : `${at.localName}:nth-child(${alike.indexOf(at) + 1})`);
  }
  return parts.join(' > ') || 'html';
};
window.describe = () => JSON.stringify({
  width: innerWidth, height: innerHeight, scale: devicePixelRatio, background: [255, 255, 255, 255],
  browser_drawn: browserDrawn((place) => { const { x, y, width, height } = place.getBoundingClientRect(); return [x, y, width, height]; }),
  elements: elements.map((element, index) => {
    const style = getComputedStyle(element), rect = element.getBoundingClientRect(), parent = elements.indexOf(element.parentElement);
    const own = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join(' ').trim();
    const inDrawing = element.ownerSVGElement !== undefined && element.ownerSVGElement !== null;
    return {
      index, parent: parent < 0 ? null : parent, tag: element.localName, id: element.id || null, classes: [...element.classList],
      path: pathOf(element), text: String(own || element.value || element.placeholder || '').slice(0, 80), rect: [rect.x, rect.y, rect.width, rect.height],
      styles: Object.fromEntries(PROPERTIES.map((name) => [name, style.getPropertyValue(name)])),
      visible: rect.width > 0 && rect.height > 0 && style.visibility !== 'hidden' && !inDrawing,
      image: element.localName === 'svg' ? 'svg' : element.getAttribute('src'),
    };
  }),
});
