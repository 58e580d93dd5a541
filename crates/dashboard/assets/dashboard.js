// Conveniences of pages that also work without scripts: buttons that copy a text, and countdowns.
// The listeners are on the document, so that parts which htmx replaces need no set-up of their own.
"use strict";

// <button data-copy="ID" data-done="Copied" hidden>: copies the text of the element with that id.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  await navigator.clipboard.writeText(source.value ?? source.textContent.trim());
  button.textContent = button.dataset.done;
});

// <time data-until="RFC 3339"> shows the time that is left as hours, minutes and seconds.
function refresh() {
  document.querySelectorAll("[data-copy][hidden]").forEach((button) => { button.hidden = !navigator.clipboard; });
  document.querySelectorAll("[data-until]").forEach((element) => {
    const left = Math.max(0, Math.floor((Date.parse(element.dataset.until) - Date.now()) / 1000));
    const parts = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
    element.textContent = parts.map((part) => String(part).padStart(2, "0")).join(":");
  });
}
refresh();
setInterval(refresh, 1000);
