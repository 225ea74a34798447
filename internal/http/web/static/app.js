// What every page may use. Pages work without it.
//
// data-open="ID"   on a button: opens the <dialog> with that id. Keep such a button hidden; this script shows it. On a link to a
//                  page with the same question: opens the dialog instead of the page.
// data-close       on a button inside a dialog: closes it.
// data-address     on the answer to a form: the address that a reload loads, instead of sending the form again.
// data-copy="ID"   on a button: copies the text of the element with that id, and says so. This script shows it too.
// details.menu     closes on a click elsewhere, and on Escape, which moves the focus to its summary.
// .picture img     is removed when it does not load, so that the letter under it is visible.
"use strict";

// broken are the addresses of pictures that did not load. leaderboard.js leaves them out of changed rows.
const broken = new Set();
const dropPicture = (image) => {
  if (!image.matches(".picture img")) return;
  broken.add(image.src);
  image.remove();
};
// An image's error does not bubble, so it is captured. Some errors came before this script ran.
document.addEventListener("error", (event) => { if (event.target instanceof Element) dropPicture(event.target); }, true);
document.querySelectorAll(".picture img").forEach((image) => { if (image.complete && image.naturalWidth === 0) dropPicture(image); });

document.querySelectorAll("[data-open], [data-copy]").forEach((button) => { button.hidden = false; });

// A message about a change appears once: reloading drops it.
const told = new URL(location.href);
for (const name of ["done", "saved", ...(told.searchParams.has("after") ? ["before", "after"] : [])]) told.searchParams.delete(name);
if (told.href !== location.href) history.replaceState(null, "", told);

const answer = document.querySelector("[data-address]");
if (answer) history.replaceState(null, "", answer.dataset.address);

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-open], [data-close], [data-copy]");
  if (!button) return;
  if (button.dataset.open) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // the user opens a link in another tab
    event.preventDefault();
    document.getElementById(button.dataset.open)?.showModal();
  } else if (button.dataset.copy) {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select and copy";
    }
  } else {
    button.closest("dialog")?.close();
  }
});

// A double click sends a form once. When the user returns to the page, the form can be sent again.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || event.defaultPrevented) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
  setTimeout(() => { delete form.dataset.sent; }, 10000); // an answer that is a file does not replace the page
});
addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach((form) => { delete form.dataset.sent; }));

const closeMenus = (stays) => {
  document.querySelectorAll("details.menu[open]").forEach((menu) => {
    if (stays(menu)) return;
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  });
};

document.addEventListener("click", (event) => closeMenus((menu) => menu.contains(event.target)));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeMenus(() => false);
});
