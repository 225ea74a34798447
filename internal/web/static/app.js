// What every page may use. Pages work without it.
//
// data-open="ID"   on a button: opens the <dialog> of that id. Keep such a button hidden; it is shown when this runs.
// data-close       on a button inside a dialog: closes it.
// data-copy="ID"   on a button: copies the text of the element of that id, and says so. Also shown when this runs.
"use strict";

document.querySelectorAll("[data-open], [data-copy]").forEach((button) => { button.hidden = false; });

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-open], [data-close], [data-copy]");
  if (!button) return;
  if (button.dataset.open) {
    document.getElementById(button.dataset.open)?.showModal();
  } else if (button.dataset.copy) {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select and copy it";
    }
  } else {
    button.closest("dialog")?.close();
  }
});
