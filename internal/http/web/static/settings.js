// Warns before edits of a form are lost, adds a chosen item to its list at once, and keeps the scroll position when a form is checked. Optional.
"use strict";

(() => {
  const form = document.querySelector("form[data-edits]");
  if (!form) return;
  let leaving = false;

  const edited = (field) => {
    if (field.localName === "select") return [...field.options].findLast((option) => option.defaultSelected)?.selected === false;
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    return field.defaultValue !== undefined && field.value !== field.defaultValue;
  };
  // The answer to an earlier press of a button may already have edits.
  const unsaved = () => form.dataset.edits === "unsaved" || [...form.elements].some(edited);
  const tell = () => {
    leaving = false;
    for (const id of ["unsaved", "discard"]) document.getElementById(id).hidden = !unsaved();
  };

  // An option is a name, with its id as the text. The service interprets an option without a text.
  form.addEventListener("change", ({ target }) => {
    const area = document.getElementById(target.dataset.into ?? "");
    const option = area && [...target.list.options].find((one) => one.text && one.value === target.value);
    if (!option) return;
    if (!area.value.split("\n").some((line) => line.trim().split(/[\s,;]/)[0] === option.text)) {
      area.value = `${area.value.trimEnd()}\n${option.text} ${option.value}\n`.trimStart();
    }
    target.value = "";
  });
  form.addEventListener("input", tell);
  form.addEventListener("change", tell);
  let saved = false;
  form.addEventListener("submit", ({ submitter }) => {
    leaving = true;
    saved = submitter?.value === "save";
    if (submitter?.value === "check") sessionStorage.setItem("checked", JSON.stringify([fromEnd(), document.activeElement.id]));
  });
  // A check adds content above the form. An error has the focus, and stays in view.
  const fromEnd = () => document.documentElement.scrollHeight - scrollY;
  const checked = JSON.parse(sessionStorage.getItem("checked"));
  sessionStorage.removeItem("checked");
  if (checked && !document.querySelector("[autofocus]")) {
    scrollBy(0, fromEnd() - checked[0]);
    if (checked[1]) document.getElementById(checked[1])?.focus({ preventScroll: true });
  }
  // The browser may have scrolled to it before the whole page was loaded, so that the bar with the buttons now hides it.
  document.querySelector("[autofocus]")?.scrollIntoView({ block: "nearest" });
  document.getElementById("discard").addEventListener("click", () => { leaving = true; });
  // A page from the browser's back/forward cache shows the form as it was sent. The saved settings may differ by now.
  addEventListener("pageshow", ({ persisted }) => persisted && saved ? location.replace(form.action) : tell());
  addEventListener("beforeunload", (event) => { if (!leaving && unsaved()) event.preventDefault(); });
})();
