// Writes numbers in the reader's language, and times as how long ago they are, with the exact local time as title. Without it, the page
// has both in English and UTC. It leaves names, which are in <bdi>, unchanged.
"use strict";

const localize = (() => {
  const language = navigator.language;
  const numbers = new Intl.NumberFormat(language);
  const brief = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 2, roundingMode: "trunc" });
  const exact = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  const relative = new Intl.RelativeTimeFormat(document.documentElement.lang);
  const units = [["day", 86400, 172800], ["hour", 3600, 7200], ["minute", 60, 60]];
  const english = language === "en" || language === "en-US";
  const grouped = /\b\d{1,3}(?:,\d{3})+\b/g;
  const shortened = /\b(\d+)\.(\d\d)([MB])\b/g;
  const kept = "bdi, code, script, style, textarea, title, time, .secret";

  const tell = (time) => {
    const then = new Date(time.dateTime);
    const seconds = (then - Date.now()) / 1000;
    const [unit, size] = units.find(([, , from]) => Math.abs(seconds) >= from) ?? units[2];
    time.textContent = Math.abs(seconds) < 60 ? (seconds < 0 ? "just now" : "in a minute") : relative.format(seconds < 0 ? Math.ceil(seconds / size) : Math.round(seconds / size), unit);
    time.title = exact.format(then);
  };

  const rewrite = (text) => text
    .replace(shortened, (_, whole, part, unit) => brief.format(`${whole}.${part}` * (unit === "M" ? 1e6 : 1e9)))
    .replace(grouped, (number) => numbers.format(number.replaceAll(",", "")));

  return (root) => {
    root.querySelectorAll("time[datetime*=T]").forEach(tell);
    if (english) return;
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, (node) =>
      (node.parentElement?.closest(kept) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const text = rewrite(node.data);
      if (text !== node.data) node.data = text;
    }
  };
})();

localize(document.body);
setInterval(() => document.querySelectorAll("time[datetime*=T]").forEach((time) => localize(time.parentElement)), 60000);
