// Shows the effect of a change of XP or level while a manager types it. The page works without it.
"use strict";

(() => {
  const form = document.querySelector("form[data-then]");
  if (!form) return;
  const place = form.querySelector("output");
  let timer = 0;
  let asked = new AbortController();

  const ask = async () => {
    asked.abort();
    const mine = asked = new AbortController();
    let said = "";
    try {
      const change = new URLSearchParams({ op: form.op.value, xp: form.xp.value });
      const answer = form.xp.value.trim() ? await fetch(`${form.action}?${change}`, { cache: "no-store", signal: mine.signal }) : null;
      if (answer?.ok) said = await answer.text();
    } catch {
      // The page that answers the form shows it too.
    }
    if (mine !== asked) return;
    place.textContent = said;
    localize(form);
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 150);
  };
  form.addEventListener("input", later);
  addEventListener("pageshow", later);
})();
