// Clock, chance and errors of a page. Time stands still until the page is run, and after it.
(() => {
  const BEGIN = Date.UTC(2025, 0, 1, 12);
  const FRAME = 16;
  const RealDate = Date;
  const channel = new MessageChannel();
  const errors = [];
  const timers = new Map();
  let now = 0, lastTimer = 0, seed = 1, explain = (text) => text;

  const note = (error) => {
    const text = explain(error instanceof Error ? error.message : String(error));
    if (errors.length < 5) errors.push((text.split('\n')[0] || 'an error without a message').slice(0, 300));
  };
  addEventListener('error', (event) => { if (event.error || event.message) note(event.error ?? event.message); });
  addEventListener('unhandledrejection', (event) => note(event.reason));

  // Animations and transitions are at their end, carets hidden.
  const still = new CSSStyleSheet();
  still.replaceSync(`*, *::before, *::after { animation-delay: 0s !important; animation-duration: 0s !important;
    animation-iteration-count: 1 !important; transition: none !important; caret-color: transparent !important;
    scroll-behavior: auto !important; }`);
  document.adoptedStyleSheets = [still];
  // Open, so that the description of the page sees what they draw.
  const attachShadow = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (init) {
    const root = attachShadow.call(this, { ...init, mode: 'open' });
    root.adoptedStyleSheets = [still];
    return root;
  };

  const dated = (values) => values.length ? values : [BEGIN + now];
  window.Date = new Proxy(RealDate, {
    construct: (target, values, newTarget) => Reflect.construct(target, dated(values), newTarget),
    apply: () => new RealDate(BEGIN + now).toString(),
  });
  RealDate.now = () => BEGIN + now;
  RealDate.prototype.constructor = window.Date;
  Performance.prototype.now = () => now;
  const fixed = (prototype, name, value) => Object.defineProperty(prototype, name, { configurable: true, get: () => value });
  fixed(Performance.prototype, 'timeOrigin', BEGIN);
  const clock = { configurable: true, get: () => now };
  Object.defineProperty(Event.prototype, 'timeStamp', clock);
  Object.defineProperty(AnimationTimeline.prototype, 'currentTime', clock);
  fixed(Document.prototype, 'lastModified', '01/01/2025 12:00:00');
  // Both format the present without an argument.
  const formatter = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format');
  const { formatToParts } = Intl.DateTimeFormat.prototype;
  Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', {
    ...formatter,
    get() {
      const format = formatter.get.call(this);
      return (date = BEGIN + now) => format(date);
    },
  });
  Intl.DateTimeFormat.prototype.formatToParts = function (date = BEGIN + now) { return formatToParts.call(this, date); };

  if (window.Temporal) {
    const { Instant, Now } = window.Temporal;
    const instant = () => Instant.fromEpochMilliseconds(BEGIN + now);
    const zoned = (zone = 'UTC') => instant().toZonedDateTimeISO(zone);
    Object.assign(Now, {
      instant, zonedDateTimeISO: zoned, plainDateTimeISO: (zone) => zoned(zone).toPlainDateTime(),
      plainDateISO: (zone) => zoned(zone).toPlainDate(), plainTimeISO: (zone) => zoned(zone).toPlainTime(),
    });
  }

  // Mulberry32.
  const random = () => {
    seed = (seed + 0x6D2B79F5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  Math.random = random;
  Crypto.prototype.getRandomValues = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let place = 0; place < bytes.length; place += 1) bytes[place] = random() * 256;
    return array;
  };
  Crypto.prototype.randomUUID = () => {
    const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
    return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
  };

  const add = (at, every, callback) => {
    lastTimer += 1;
    timers.set(lastTimer, { at, every, callback });
    return lastTimer;
  };
  const called = (callback, values) => () => typeof callback === 'function' ? callback(...values) : (0, eval)(String(callback));
  const delayed = (delay) => Math.max(Number(delay) || 0, 0);
  window.setTimeout = (callback, delay, ...values) => add(now + delayed(delay), 0, called(callback, values));
  window.setInterval = (callback, delay, ...values) => {
    const every = Math.max(delayed(delay), 4);
    return add(now + every, every, called(callback, values));
  };
  window.requestAnimationFrame = (callback) => add((Math.floor(now / FRAME) + 1) * FRAME, 0, () => callback(now));
  window.requestIdleCallback = (callback) => add(now + 1, 0, () => callback({ didTimeout: false, timeRemaining: () => 50 }));
  for (const name of ['clearTimeout', 'clearInterval', 'cancelAnimationFrame', 'cancelIdleCallback']) {
    window[name] = (number) => { timers.delete(Number(number)); };
  }

  // Answers to requests arrive by the machine's clock: the page's clock waits for them, as long as it does not request
  // again and again.
  let requested = 0, answersLeft = 200, whenAnswered = () => {};
  const answered = () => { requested -= 1; whenAnswered(); };
  const { fetch } = window, { open, send } = XMLHttpRequest.prototype;
  window.fetch = (...request) => {
    const answer = fetch(...request);
    requested += 1;
    answer.then(answered, answered);
    return answer;
  };
  const pending = new WeakSet();
  const release = (request) => { if (pending.delete(request)) answered(); };
  XMLHttpRequest.prototype.open = function (...request) {
    release(this);
    return open.apply(this, request);
  };
  XMLHttpRequest.prototype.send = function (...body) {
    if (pending.has(this)) return send.apply(this, body);
    pending.add(this);
    requested += 1;
    this.addEventListener('loadend', () => release(this), { once: true });
    try {
      return send.apply(this, body);
    } catch (error) {
      release(this);
      throw error;
    }
  };
  const allAnswered = async () => {
    for (; requested > 0 && answersLeft > 0; answersLeft -= 1) {
      await new Promise((resolve) => { whenAnswered = resolve; });
      await nextTask();
    }
  };

  const nextTask = () => new Promise((resolve) => {
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(null);
  });
  const nextTimer = (end) => {
    let next;
    for (const [number, timer] of timers) {
      if (timer.at <= end && (!next || timer.at < next[1].at)) next = [number, timer];
    }
    return next;
  };
  // Runs what is due in so many milliseconds of the page's time; returns the errors so far.
  const run = async (milliseconds, maxTimers) => {
    const end = now + milliseconds;
    await nextTask();
    await allAnswered();
    for (let count = 0; count < maxTimers; count += 1) {
      const next = nextTimer(end);
      if (!next) break;
      const [number, timer] = next;
      now = Math.max(now, timer.at);
      if (timer.every) timer.at += timer.every; else timers.delete(number);
      try { timer.callback(); } catch (error) { note(error); }
      await nextTask();
      await allAnswered();
    }
    now = end;
    await nextTask();
    return errors;
  };
  Object.defineProperty(window, '__juror', { value: Object.freeze({ run, explainBy: (other) => { explain = other; } }) });
})();
