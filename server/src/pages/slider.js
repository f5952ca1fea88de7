"use strict";
// Two images over each other, the second one as far as the range says.
(() => {
  for (const pair of document.querySelectorAll("[data-slider]")) {
    const images = Array.from(pair.querySelectorAll("img"));
    const captions = Array.from(pair.querySelectorAll("figcaption"));
    if (images.length !== 2) continue;
    const [below, above] = images;
    const slider = document.createElement("div");
    const over = document.createElement("div");
    const range = document.createElement("input");
    slider.className = "slider";
    over.className = "over";
    range.className = "slider-range";
    range.type = "range";
    range.min = "0";
    range.max = "100";
    range.value = "50";
    range.setAttribute("aria-label", "How much of the second image is shown");
    const place = () => {
      over.style.clipPath = `inset(0 0 0 ${100 - Number(range.value)}%)`;
      range.setAttribute("aria-valuetext", `${range.value} percent`);
    };
    range.addEventListener("input", place);
    over.append(above);
    slider.append(below, over);
    place();
    pair.classList.remove("pair");
    pair.replaceChildren(slider, range, ...captions);
  }
})();
