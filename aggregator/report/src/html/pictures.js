"use strict";
// A screenshot and its render: beside each other, under a slider, through each other, in turns, or as a
// map of where they differ.
(() => {
  const MODES = [
    ["side", "Side by side"], ["slider", "Slider"], ["onion", "Onion skin"], ["blink", "Blink"],
    ["heat", "Heat map"],
  ];
  const make = (tag, className, text = "") => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.textContent = text;
    return element;
  };
  const labelled = (control, text) => {
    const label = make("label", "check");
    label.append(control, text);
    return label;
  };
  // Lays the render over the screenshot as they were measured: at equal scale, under the pair's shift.
  const align = (above, { scale = 1, shift = [0, 0], size, render_size: renderSize }) => {
    if (!size || !renderSize) return;
    above.classList.add("aligned");
    above.style.left = `${(100 * shift[0]) / size[0]}%`;
    above.style.top = `${(100 * shift[1]) / size[1]}%`;
    above.style.width = `${(100 * scale * renderSize[0]) / size[0]}%`;
  };
  const legend = ({ scale = 1, shift = [0, 0], noise = 0 }) => {
    const parts = ["Red where both pictures differ."];
    if (noise > 0) parts.push("Gray is within the noise of this pair.");
    if (scale !== 1) parts.push("The screenshot is halved.");
    if (shift.some((part) => part !== 0)) {
      parts.push(`The render is shifted by ${shift[0]} pixels to the right and ${shift[1]} down.`);
    }
    return parts.join(" ");
  };
  const build = (pair) => {
    const images = Array.from(pair.querySelectorAll("figure img"));
    const figures = Array.from(pair.querySelectorAll("figure"));
    if (images.length !== 2) return;
    const alignment = JSON.parse(pair.dataset.compare || "{}");
    const [stage, over, canvas] = [make("div", "stage"), make("div", "over"), make("canvas")];
    const note = make("p", "small faint stage-note", legend(alignment));
    const [below, above] = images.map((image) => image.cloneNode());
    const marks = figures.map((figure) => figure.querySelector("svg.regions")?.cloneNode(true));
    const range = make("input", "stage-range");
    range.type = "range";
    range.min = "0";
    range.max = "100";
    range.value = "50";
    range.setAttribute("aria-label", "How much of the render is shown");
    const place = () => {
      const value = Number(range.value);
      over.style.clipPath = pair.dataset.mode === "slider" ? `inset(0 0 0 ${100 - value}%)` : "none";
      over.style.opacity = pair.dataset.mode === "onion" ? String(value / 100) : "1";
      range.setAttribute("aria-valuetext", `${value} percent`);
    };
    range.addEventListener("input", place);
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "Heat map: red where both pictures differ");
    align(above, alignment);
    over.append(above);
    stage.append(below, over, canvas, ...marks.filter(Boolean));
    // Only what is looked at is laid out a second time.
    const open = () => {
      if (stage.isConnected) return;
      below.loading = above.loading = "eager";
      pair.prepend(stage, range, note);
    };
    const drawHeat = async () => {
      canvas.ariaBusy = "true";
      await heatMap(canvas, below, above, alignment);
      canvas.ariaBusy = "false";
    };
    let turns = 0;
    const buttons = new Map();
    const show = (mode) => {
      pair.dataset.mode = mode;
      if (mode !== "side") open();
      clearInterval(turns);
      over.hidden = mode === "heat";
      below.hidden = mode === "heat";
      canvas.hidden = note.hidden = mode !== "heat";
      // The heat map has the render's size, everything else the screenshot's.
      marks.forEach((svg, side) => svg?.toggleAttribute("hidden", (mode === "heat") !== (side === 1)));
      stage.hidden = mode === "side";
      range.hidden = mode !== "slider" && mode !== "onion";
      for (const figure of figures) figure.classList.toggle("caption-only", mode !== "side");
      for (const [name, button] of buttons) button.setAttribute("aria-pressed", String(name === mode));
      if (mode === "blink") turns = setInterval(() => { over.hidden = !over.hidden; }, 700);
      if (mode === "heat") drawHeat();
      place();
    };
    const bar = make("div", "modes");
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "How both pictures are shown");
    const noHeat = pair.dataset.noHeat;
    for (const [mode, text] of MODES.filter(([mode]) => mode !== "heat" || !noHeat)) {
      const button = make("button", "", text);
      button.type = "button";
      // Pressed once more, it stops: what blinks must come to rest.
      button.addEventListener("click", () => show(pair.dataset.mode === mode ? "side" : mode));
      buttons.set(mode, button);
      bar.append(button);
    }
    if (marks.some(Boolean)) {
      const isMarked = make("input");
      isMarked.type = "checkbox";
      isMarked.checked = true;
      isMarked.addEventListener("change", () => pair.classList.toggle("unmarked", !isMarked.checked));
      bar.append(labelled(isMarked, " Mark regions"));
    }
    if (noHeat) bar.append(make("span", "small faint", noHeat));
    pair.before(bar);
    show("side");
  };
  for (const pair of document.querySelectorAll("[data-compare]")) build(pair);
})();
