// Keeps the rows of a board up to date. The page works without it.
//
// The service streams changed rows, at most twice a second. If it rejects the stream, this script polls the rows every few seconds. If it
// does not answer, the page says so and retries, with growing and random pauses.
// A row stays the same element while its member is on the page, so that it stays open and keeps the focus. The script requests nothing
// while the tab is hidden or paused.
"use strict";

(() => {
  const fragment = (html) => {
    const holder = document.createElement("template");
    holder.innerHTML = html;
    for (const image of holder.content.querySelectorAll("img")) if (broken.has(image.src)) image.remove();
    localize(holder.content);
    return holder.content;
  };

  const board = document.getElementById("board");
  const button = document.getElementById("live");
  if (!board) return;

  // An opened row reads the member's ranks, each time.
  document.addEventListener("toggle", async (event) => {
    const place = event.target.open && event.target.querySelector("[data-standing]");
    if (!place) return;
    try {
      const answer = await fetch(`${place.parentElement.querySelector("a").href}/standing`, { cache: "no-store" });
      if (answer.ok) place.replaceChildren(fragment(await answer.text()));
    } catch {
      // The member's page has them too.
    }
  }, true);

  if (!board.dataset.rows) return;

  const pollEvery = 5000;
  const streamAgainAfter = 60000;
  const lostAfter = 10000; // of silence; a stream has a keep-alive every 5 seconds
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let paused = Boolean(button && sessionStorage.getItem("paused")); // on all boards of the tab
  let stream = null;
  let timer = 0;
  let silence = 0;
  let etag = "";
  let polling = null;
  let failures = 0;
  let finished = false; // a period has closed, or the board may not be read any more

  const words = { on: "", off: "", lost: "Reconnecting…", ended: "This board can no longer be read.", over: "" };
  // say shows whether the rows are live. The button's label says what a press does.
  const say = (state) => {
    if (button) {
      button.dataset.live = state;
      button.textContent = paused ? "Go live" : "Pause";
      button.hidden = state === "ended" || state === "over";
    }
    const place = document.getElementById("live-state");
    if (place && place.textContent !== words[state]) place.textContent = words[state];
  };
  const after = () => Math.min(1000 * 2 ** failures++, 60000) * (0.5 + Math.random());

  const parse = (html) => fragment(html).firstElementChild;

  // morph makes one node equal to another, and changes only the differences.
  const morph = (node, like) => {
    if (node.nodeType !== like.nodeType || node.nodeName !== like.nodeName) {
      node.replaceWith(like);
      return;
    }
    if (node.dataset?.standing !== undefined) return; // its content is read separately
    if (node.nodeType === Node.TEXT_NODE) {
      if (node.data !== like.data) node.data = like.data;
      return;
    }
    for (const { name, value } of [...like.attributes]) {
      if (node.getAttribute(name) !== value) node.setAttribute(name, value);
    }
    for (const { name } of [...node.attributes]) {
      if (name !== "open" && !like.hasAttribute(name)) node.removeAttribute(name);
    }
    const [old, fresh] = [[...node.childNodes], [...like.childNodes]];
    fresh.forEach((child, i) => (i < old.length ? morph(old[i], child) : node.append(child)));
    old.slice(fresh.length).forEach((child) => child.remove());
  };

  const seen = new Set();
  const sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) seen[isIntersecting ? "add" : "delete"](target);
  });
  const watch = (row) => sight.observe(row);
  const forget = (row) => { sight.unobserve(row); seen.delete(row); };
  [...board.children].forEach(watch);

  // The compositor can fade ::after without painting; a colour of the row would be painted for each frame.
  const flash = (row) => {
    if (!calm.matches && seen.has(row)) row.animate({ opacity: [0.18, 0] }, { duration: 1200, pseudoElement: "::after" });
  };

  // arrange puts the rows into order, and moves as few as possible.
  const arrange = (order) => {
    const focused = document.activeElement;
    const wanted = new Set(order);
    for (const row of [...board.children]) if (!wanted.has(row.id)) { forget(row); row.remove(); }
    let next = board.firstElementChild;
    for (const id of order) {
      const row = document.getElementById(id);
      if (!row) continue;
      if (row === next) next = next.nextElementSibling;
      else board.insertBefore(row, next);
    }
    if (focused !== document.activeElement && board.contains(focused)) focused.focus({ preventScroll: true });
  };

  const top = Number(board.dataset.top) || Infinity;

  const show = (state) => {
    const order = state.order.slice(0, top);
    for (const html of state.rows) {
      const fresh = parse(html);
      if (!order.includes(fresh.id)) continue;
      const own = document.getElementById(`own${fresh.id.slice(1)}`);
      if (own) morph(own.firstElementChild, fresh.cloneNode(true).firstElementChild);
      const row = document.getElementById(fresh.id);
      if (!row) {
        board.append(fresh);
        watch(fresh);
      } else {
        const before = row.textContent;
        morph(row, fresh);
        if (row.textContent !== before) flash(row);
      }
    }
    arrange(order);
    document.getElementById("empty").hidden = order.length > 0;
    if (state.closed) {
      finished = true;
      const over = document.getElementById("over");
      if (over) over.hidden = false;
      else setTimeout(() => location.reload(), 10000 * Math.random()); // then a frame shows the period that is running
      say("over");
      stop();
    }
    for (const name of ["total", "last", "gained"]) {
      const place = document.getElementById(name);
      if (place && state[name] !== undefined) place.textContent = state[name].toLocaleString();
    }
  };

  const stop = () => {
    clearTimeout(timer);
    clearTimeout(silence);
    stream?.close();
    polling?.abort();
    stream = polling = null;
  };

  const poll = async (streamAgainAt) => {
    const mine = new AbortController();
    polling = mine;
    let wait = pollEvery;
    try {
      const answer = await fetch(board.dataset.rows, { cache: "no-store", headers: etag ? { "If-None-Match": etag } : {}, signal: AbortSignal.any([mine.signal, AbortSignal.timeout(lostAfter)]) });
      if (answer.ok) {
        failures = 0;
        etag = answer.headers.get("ETag") ?? "";
        const state = await answer.json();
        if (polling === mine) show(state);
      } else if (answer.status === 304) {
        failures = 0;
      } else if ([401, 403, 404].includes(answer.status)) {
        finished = polling === mine;
        if (finished) say("ended");
      } else {
        wait = after();
      }
    } catch {
      wait = after();
    }
    if (polling !== mine || finished) return;
    say(failures ? "lost" : "on");
    timer = setTimeout(() => (Date.now() < streamAgainAt ? poll(streamAgainAt) : start()), wait);
  };

  const start = () => {
    stop();
    if (paused || finished || document.hidden) return;
    if (!window.EventSource || !board.dataset.live) {
      poll(Infinity);
      return;
    }
    const mine = new EventSource(board.dataset.live);
    let opened = false;
    stream = mine;
    const lose = () => {
      mine.close(); // otherwise all browsers would reconnect at once, without a random pause
      if (stream !== mine) return;
      stop();
      // A rejected stream does not say why; reading the rows does.
      if (!opened) {
        poll(Date.now() + streamAgainAfter);
        return;
      }
      say("lost");
      timer = setTimeout(start, after());
    };
    const hear = () => {
      clearTimeout(silence);
      silence = setTimeout(lose, lostAfter);
    };
    hear();
    mine.addEventListener("open", () => { opened = true; });
    mine.addEventListener("here", hear);
    mine.addEventListener("rows", (event) => {
      hear();
      failures = 0;
      etag = "";
      say("on");
      show(JSON.parse(event.data));
    });
    mine.addEventListener("error", lose);
  };

  if (button) button.hidden = false;
  if (paused) say("off");
  button?.addEventListener("click", () => {
    paused = !paused;
    if (paused) sessionStorage.setItem("paused", "yes");
    else sessionStorage.removeItem("paused");
    say(paused ? "off" : "on");
    start();
  });
  document.addEventListener("visibilitychange", start);
  addEventListener("pagehide", stop);
  addEventListener("pageshow", (event) => { if (event.persisted) start(); });
  start();
})();
