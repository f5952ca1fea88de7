"use strict";
// The overview names the runs that go on. When one of them has ended, or another one has begun, the
// page is loaded again.
(() => {
  const POLL_INTERVAL = 5000;
  const runs = (page) =>
    Array.from(page.querySelectorAll("[data-running]"), (element) => element.dataset.running).join(" ");
  const before = runs(document);
  if (before === "") return;
  const poll = async () => {
    try {
      const response = document.hidden
        ? null : await fetch(window.location.href, { headers: { accept: "text/html" } });
      if (response?.ok) {
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        if (runs(page) !== before) return window.location.reload();
      }
    } catch {
      // The server is away: the next poll asks again.
    }
    return setTimeout(poll, POLL_INTERVAL);
  };
  setTimeout(poll, POLL_INTERVAL);
})();
