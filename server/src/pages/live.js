"use strict";
// A running run. All tabs of a browser share one event stream: browsers open at most six HTTP/1.1
// connections to a host, and a stream of its own in each tab would use them up. Where streams
// cannot be shared, the page polls.
(() => {
  const live = document.getElementById("live");
  if (!live) return;
  const MAX_STREAMS = 3;
  const MAX_LATEST = 8;
  const POLL_INTERVAL = 3000;
  const REFRESH_INTERVAL = 5000;
  const address = live.dataset.events;
  const byId = (id) => document.getElementById(id);
  const print = (id, text) => { const element = byId(id); if (element) element.textContent = text; };
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

  const showProgress = (progress) => {
    const bar = byId("live-bar");
    bar.max = Math.max(progress.planned, 1);
    bar.value = progress.done;
    print("live-done", `${count(progress.done)} of ${count(progress.planned)}`);
    print("live-unscored", count(progress.done - progress.scored));
    const budget = progress.budget_usd == null
      ? ", no budget set" : ` of a budget of ${dollars(progress.budget_usd)}`;
    print("live-spent", dollars(progress.spent_usd) + budget);
    print("live-flight", dollars(progress.in_flight_usd));
    print("live-rate", progress.rate == null ? "–" : `${progress.rate.toFixed(1)} a second`);
    print("live-left", progress.seconds_left == null ? "–" : time(progress.seconds_left));
  };

  const showResult = (result) => {
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
    while (list.children.length > MAX_LATEST) list.lastElementChild.remove();
    byId("latest-title").hidden = false;
  };

  // Figures, lists and tables come from the server as HTML: the page fetches itself and takes the
  // parts that it may replace, but none that is being used.
  const inUse = (part) => {
    const selection = window.getSelection();
    const selected = selection && !selection.isCollapsed && selection.containsNode(part, true);
    return selected || part.contains(document.activeElement);
  };
  const replace = (part, fresh) => {
    if (!fresh || inUse(part)) return;
    for (const open of part.querySelectorAll("details[id][open]")) {
      const other = fresh.querySelector(`#${CSS.escape(open.id)}`);
      if (other) other.open = true;
    }
    part.replaceChildren(...fresh.childNodes);
  };
  let refreshing = false;
  let waiting = null;
  const refresh = async (kind) => {
    if (refreshing || document.hidden) return;
    refreshing = true;
    try {
      const response = await fetch(window.location.href, { headers: { accept: "text/html" } });
      if (!response.ok) throw new Error(response.statusText);
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      byId("live-lost").hidden = true;
      if (!page.getElementById("live")) return window.location.reload();
      for (const part of document.querySelectorAll(kind)) {
        replace(part, page.querySelector(`[data-refresh="${part.dataset.refresh}"]`));
      }
    } catch {
      byId("live-lost").hidden = false;
    } finally {
      refreshing = false;
    }
  };
  const refreshSoon = () => {
    waiting ??= setTimeout(() => {
      waiting = null;
      refresh("[data-refresh]:not(#live *)");
    }, REFRESH_INTERVAL);
  };
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refreshSoon(); });

  const apply = (message) => {
    switch (message.kind) {
      case "progress": showProgress(message.data); refreshSoon(); break;
      case "result": showResult(message.data); break;
      case "connected": byId("live-lost").hidden = true; break;
      case "disconnected": byId("live-lost").hidden = false; break;
      case "poll": refresh("[data-refresh]"); break;
      case "ended": window.location.reload(); break;
    }
  };

  // Resolves with whether the run has ended; false if the server refuses the stream.
  const stream = (publish) => new Promise((resolve) => {
    const events = new EventSource(address);
    const close = (ended) => { events.close(); resolve(ended); };
    const forward = (kind) => (event) => publish({ kind, data: JSON.parse(event.data) });
    events.addEventListener("open", () => publish({ kind: "connected" }));
    events.addEventListener("progress", forward("progress"));
    events.addEventListener("result", forward("result"));
    events.addEventListener("ended", () => { publish({ kind: "ended" }); close(true); });
    events.addEventListener("error", () => {
      publish({ kind: "disconnected" });
      if (events.readyState === EventSource.CLOSED) close(false);
    });
    window.addEventListener("pagehide", () => close(true));
  });
  const pause = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

  // Runs of different tabs share a few streams too; a run without one is polled until one is free.
  const inSlot = async (work) => {
    for (let slot = 0; slot < MAX_STREAMS; slot += 1) {
      const done = await navigator.locks.request(`juror-stream-${slot}`, { ifAvailable: true },
        async (lock) => lock !== null && (await work(), true));
      if (done) return true;
    }
    return false;
  };
  const lead = async (publish) => {
    let ended = false;
    while (!ended) {
      await inSlot(async () => { ended = await stream(publish); });
      if (ended) return;
      publish({ kind: "poll" });
      await pause(POLL_INTERVAL);
    }
  };
  const canShare = "EventSource" in window && "BroadcastChannel" in window && navigator.locks;
  if (canShare) {
    const channel = new BroadcastChannel(`juror ${address}`);
    let newest = null;
    const publish = (message) => {
      if (message.kind === "progress") newest = message;
      channel.postMessage(message);
      apply(message);
    };
    channel.addEventListener("message", ({ data }) => {
      if (data.kind === "joined") { if (newest) channel.postMessage(newest); } else apply(data);
    });
    channel.postMessage({ kind: "joined" });
    navigator.locks.request(`juror-leader ${address}`, () => lead(publish));
  } else {
    setInterval(() => apply({ kind: "poll" }), POLL_INTERVAL);
  }
  // A page from the browser's cache has lost its place among the tabs.
  window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });
})();
