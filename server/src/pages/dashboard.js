"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const say = (id, text) => { const place = byId(id); if (place) place.textContent = text; };
  const count = (number) => number.toLocaleString("en");
  const dollars = (text) => {
    const value = Number(text);
    return `$${value.toFixed(value >= 1 || value === 0 ? 2 : 4)}`;
  };
  const time = (seconds) => {
    const whole = Math.round(seconds);
    if (whole < 60) return `${whole} s`;
    if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
    return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`;
  };

  // A run that goes on.
  const MOST_SHOWN = 8;
  const live = byId("live");
  const progressed = (progress) => {
    const bar = byId("live-bar");
    bar.max = Math.max(progress.planned, 1);
    bar.value = progress.done;
    say("live-done", `${count(progress.done)} of ${count(progress.planned)}`);
    say("live-unscored", count(progress.done - progress.scored));
    const budget = progress.budget_usd == null ? "" : ` of ${dollars(progress.budget_usd)}`;
    say("live-spent", dollars(progress.spent_usd) + budget);
    say("live-flight", dollars(progress.in_flight_usd));
    say("live-rate", progress.rate == null ? "–" : `${progress.rate.toFixed(1)} a second`);
    say("live-left", progress.seconds_left == null ? "–" : time(progress.seconds_left));
  };
  const finished = (result) => {
    const list = byId("latest");
    const line = document.createElement("li");
    const add = (element, text, className) => {
      element.textContent = text;
      if (className) element.className = className;
      line.append(element);
    };
    const link = document.createElement("a");
    const repeat = result.repeat > 0 ? `?repeat=${result.repeat}` : "";
    link.href = `/runs/${list.dataset.run}/items/${encodeURIComponent(result.screenshot_id)}${repeat}`;
    add(link, result.screenshot_id);
    add(document.createElement("span"), result.outcome.replace("_", " "), `chip ${result.outcome}`);
    if (result.score != null) add(document.createElement("span"), `${(result.score * 100).toFixed(1)}%`);
    if (result.simulated && result.score != null) add(document.createElement("strong"), "SIMULATED", "simulated");
    list.prepend(line);
    while (list.children.length > MOST_SHOWN) list.lastElementChild.remove();
    byId("latest-title").hidden = false;
  };
  if (live && "EventSource" in window) {
    const events = new EventSource(live.dataset.events);
    const lost = byId("live-lost");
    events.addEventListener("open", () => { lost.hidden = true; });
    events.addEventListener("error", () => { lost.hidden = false; });
    events.addEventListener("progress", (event) => progressed(JSON.parse(event.data)));
    events.addEventListener("result", (event) => finished(JSON.parse(event.data)));
    events.addEventListener("ended", () => { events.close(); window.location.reload(); });
    window.addEventListener("pagehide", () => events.close());
  }

  // Two images over each other, the second one as far as the range says.
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
