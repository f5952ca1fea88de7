"use strict";
// Keys: j and k go through results; on a result's page the arrows to the sides do, and among the
// rows of a table those up and down, which elsewhere scroll.
(() => {
  const isTyping = (element) =>
    element.closest("input, select, textarea, pre, summary, button, [contenteditable], .scroll[tabindex]:focus");
  const rows = () => Array.from(document.querySelectorAll("#results tbody th a:first-of-type"));
  const step = (by) => {
    const link = document.querySelector(by > 0 ? ".ways [rel=next]" : ".ways [rel=prev]");
    if (link) { link.click(); return true; }
    const links = rows();
    if (links.length === 0) return false;
    const at = links.findIndex((other) => other.closest("tr").contains(document.activeElement));
    const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by];
    if (!next) return false;
    next.focus();
    next.closest("tr").scrollIntoView({ block: "nearest" });
    return true;
  };
  const onItem = document.querySelector(".ways") !== null;
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return;
    if (isTyping(event.target)) return;
    const inRows = event.target.closest("#results tbody") !== null;
    const isArrow = (aside, along) => (onItem && event.key === aside) || (inRows && event.key === along);
    const next = event.key === "j" || isArrow("ArrowRight", "ArrowDown");
    const previous = event.key === "k" || isArrow("ArrowLeft", "ArrowUp");
    if ((next && step(1)) || (previous && step(-1))) event.preventDefault();
  });
})();
