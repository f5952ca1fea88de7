"use strict";
// A screenshot and its render: beside each other, under a slider, through each other, in turns, or as a
// map of where they differ.
(() => {
  const MODES = [
    ["side", "Side by side"], ["slider", "Slider"], ["onion", "Onion skin"], ["blink", "Blink"],
    ["heat", "Heat map"],
  ];
  const make = (tag, className) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    return element;
  };
  const labelled = (control, text) => {
    const label = make("label", "check");
    label.append(control, text);
    return label;
  };
  const loaded = (image) => new Promise((done) => {
    if (image.complete) done();
    else image.addEventListener("load", done, { once: true });
  });
  // How far each pixel of both pictures is apart, from white over yellow to red.
  const drawHeat = async (canvas, one, other) => {
    canvas.ariaBusy = "true";
    await Promise.all([loaded(one), loaded(other)]);
    canvas.width = Math.max(one.naturalWidth, other.naturalWidth);
    canvas.height = Math.max(one.naturalHeight, other.naturalHeight);
    const pixels = (image) => {
      const context = canvas.getContext("2d", { willReadFrequently: true });
      context.fillStyle = "#fff";
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, canvas.width, canvas.height);
    };
    const [left, right] = [pixels(one), pixels(other)];
    for (let place = 0; place < left.data.length; place += 4) {
      let most = 0;
      for (let sample = place; sample < place + 3; sample += 1) {
        most = Math.max(most, Math.abs(left.data[sample] - right.data[sample]));
      }
      const strength = most <= 2 ? 0 : 0.35 + 0.65 * (most / 255);
      left.data[place] = 255;
      left.data[place + 1] = Math.round(255 * (1 - strength));
      left.data[place + 2] = strength === 0 ? 255 : 0;
      left.data[place + 3] = 255;
    }
    canvas.getContext("2d").putImageData(left, 0, 0);
    canvas.ariaBusy = "false";
  };
  const build = (pair) => {
    const images = Array.from(pair.querySelectorAll("figure img"));
    const figures = Array.from(pair.querySelectorAll("figure"));
    if (images.length !== 2) return;
    const [stage, over, canvas] = [make("div", "stage"), make("div", "over"), make("canvas", "")];
    const [below, above] = images.map((image) => image.cloneNode());
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
    over.append(above);
    stage.append(below, over, canvas);
    // Only what is looked at is laid out a second time.
    const open = () => {
      if (stage.isConnected) return;
      below.loading = above.loading = "eager";
      pair.prepend(stage, range);
    };
    let turns = 0;
    const buttons = new Map();
    const show = (mode) => {
      pair.dataset.mode = mode;
      if (mode !== "side") open();
      clearInterval(turns);
      over.hidden = mode === "heat";
      below.hidden = mode === "heat";
      canvas.hidden = mode !== "heat";
      stage.hidden = mode === "side";
      range.hidden = mode !== "slider" && mode !== "onion";
      for (const figure of figures) figure.classList.toggle("caption-only", mode !== "side");
      for (const [name, button] of buttons) button.setAttribute("aria-pressed", String(name === mode));
      if (mode === "blink") turns = setInterval(() => { over.hidden = !over.hidden; }, 700);
      if (mode === "heat") drawHeat(canvas, below, above);
      place();
    };
    const bar = make("div", "modes");
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "How both pictures are shown");
    for (const [mode, text] of MODES) {
      const button = make("button", "");
      button.type = "button";
      button.textContent = text;
      // Pressed once more, it stops: what blinks must come to rest.
      button.addEventListener("click", () => show(pair.dataset.mode === mode ? "side" : mode));
      buttons.set(mode, button);
      bar.append(button);
    }
    if (pair.querySelector("svg.regions")) {
      const marks = make("input", "");
      marks.type = "checkbox";
      marks.checked = true;
      marks.addEventListener("change", () => pair.classList.toggle("unmarked", !marks.checked));
      bar.append(labelled(marks, " Mark regions"));
    }
    pair.before(bar);
    show("side");
  };
  for (const pair of document.querySelectorAll("[data-compare]")) build(pair);
})();
