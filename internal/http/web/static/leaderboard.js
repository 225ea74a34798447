// Keeps the rows of a board as they are at the moment. The page works without it.
//
// The service streams what changed, at most twice a second. Where that cannot be had, the rows are asked for every few seconds.
// A row stays the same element while its member is on the page, so that it stays open and keeps the focus. Nothing is asked for
// while the tab is hidden, or while somebody has paused it.
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

  // A row that is opened reads where its member stands, each time.
  document.addEventListener("toggle", async (event) => {
    const place = event.target.open && event.target.querySelector("[data-standing]");
    if (!place) return;
    try {
      const answer = await fetch(`${place.parentElement.querySelector("a").href}/standing`, { cache: "no-store" });
      if (answer.ok) place.replaceChildren(fragment(await answer.text()));
    } catch {
      // The profile has it, too.
    }
  }, true);

  if (!board.dataset.rows) return;

  const pollEvery = 5000;
  const pollAfterFailure = 30000;
  const streamAgainAfter = 60000;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let paused = false;
  let stream = null;
  let timer = 0;
  let etag = "";
  let polling = null;

  const parse = (html) => fragment(html).firstElementChild;

  // morph makes one node like another, and touches only what is different.
  const morph = (node, like) => {
    if (node.nodeType !== like.nodeType || node.nodeName !== like.nodeName) {
      node.replaceWith(like);
      return;
    }
    if (node.dataset?.standing !== undefined) return; // what it holds was read for itself
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

  const flash = (row) => {
    if (!calm.matches) row.animate([{ backgroundColor: "color-mix(in srgb, var(--accent) 18%, transparent)" }, { backgroundColor: "transparent" }], 1200);
  };

  // arrange puts the rows into their order and moves no more of them than it has to.
  const arrange = (order) => {
    const focused = document.activeElement;
    const wanted = new Set(order);
    for (const row of [...board.children]) if (!wanted.has(row.id)) row.remove();
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
      } else {
        const before = row.textContent;
        morph(row, fresh);
        if (row.textContent !== before) flash(row);
      }
    }
    arrange(order);
    document.getElementById("empty").hidden = order.length > 0;
    for (const name of ["total", "last"]) {
      const place = document.getElementById(name);
      if (place) place.textContent = state[name].toLocaleString();
    }
  };

  const stop = () => {
    clearTimeout(timer);
    stream?.close();
    polling?.abort();
    stream = polling = null;
  };

  const poll = async (streamAgainAt) => {
    const mine = new AbortController();
    polling = mine;
    let wait = pollEvery;
    try {
      const answer = await fetch(board.dataset.rows, { cache: "no-store", headers: etag ? { "If-None-Match": etag } : {}, signal: mine.signal });
      if (answer.ok) {
        etag = answer.headers.get("ETag") ?? "";
        const state = await answer.json();
        if (polling === mine) show(state);
      } else if (answer.status !== 304) {
        wait = pollAfterFailure;
      }
    } catch {
      wait = pollAfterFailure;
    }
    if (polling !== mine) return;
    timer = setTimeout(() => (Date.now() < streamAgainAt ? poll(streamAgainAt) : start()), wait);
  };

  const start = () => {
    stop();
    if (paused || document.hidden) return;
    if (!window.EventSource || !board.dataset.live) {
      poll(Infinity);
      return;
    }
    const mine = new EventSource(board.dataset.live);
    stream = mine;
    mine.addEventListener("rows", (event) => {
      etag = "";
      show(JSON.parse(event.data));
    });
    mine.addEventListener("error", () => {
      // A stream that was refused is closed for good; one that broke off comes back by itself.
      if (mine.readyState !== EventSource.CLOSED || stream !== mine) return;
      stream = null;
      poll(Date.now() + streamAgainAfter);
    });
  };

  if (button) button.hidden = false;
  button?.addEventListener("click", () => {
    paused = !paused;
    // The name says what a press does; whether the rows are live shows in the dot before it.
    button.dataset.live = paused ? "off" : "on";
    button.textContent = paused ? "Go live" : "Pause";
    start();
  });
  document.addEventListener("visibilitychange", start);
  addEventListener("pagehide", stop);
  addEventListener("pageshow", (event) => { if (event.persisted) start(); });
  start();
})();
