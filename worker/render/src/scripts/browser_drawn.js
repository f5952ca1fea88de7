// Boxes of what each browser draws by its own design: controls, unless their appearance is none, and emoji.
globalThis.browserDrawn = (boxOf) => {
  const CONTROLS = 'progress, meter, input:is([type=checkbox], [type=radio], [type=range], [type=color], [type=file], [type=date], [type=datetime-local], [type=month], [type=time], [type=week])';
  const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\uFE0F/gu;
  const MIN_ASPECT = 1.25, MAX_BOXES = 1000;
  const isShown = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const boxes = [...document.querySelectorAll(CONTROLS)]
    .filter((control) => isShown(control) && getComputedStyle(control).appearance !== 'none').map(boxOf);
  const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  while (boxes.length < MAX_BOXES && texts.nextNode()) {
    const text = texts.currentNode;
    for (const { 0: { length }, index } of text.data.matchAll(EMOJI)) {
      if (boxes.length >= MAX_BOXES || !isShown(text.parentElement)) break;
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + length);
      const [left, top, width, height] = boxOf(range);
      // Fonts without emoji draw a narrow box for each.
      boxes.push([left, top, Math.max(width, MIN_ASPECT * height), height]);
    }
  }
  return boxes.slice(0, MAX_BOXES);
};
