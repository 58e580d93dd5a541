// Conveniences of pages that also work without scripts: a guard against double clicks, buttons that copy a text, and
// countdowns.
// The listeners are on the document, so that parts which htmx replaces need no set-up of their own.
"use strict";

// A form with the method POST is sent once. After a second submit, the browser would drop the answer to the first, which
// can contain a secret that is shown only once.
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  if (event.target.dataset.sent) event.preventDefault();
  else event.target.dataset.sent = "1";
});
// A page that the browser restores can send its forms again.
window.addEventListener("pageshow", () => {
  document.querySelectorAll("form[data-sent]").forEach((form) => { delete form.dataset.sent; });
});

// <button data-copy="ID" data-done="Copied" hidden>: copies the text of the element with that id.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  await navigator.clipboard.writeText(source.value ?? source.textContent.trim());
  button.textContent = button.dataset.done;
});

// <details id="ID"> that the user opened stays open when htmx replaces its part of the page.
let opened = [];
document.addEventListener("htmx:before:swap", () => {
  opened = Array.from(document.querySelectorAll("details[id][open]"), (details) => details.id);
});
document.addEventListener("htmx:after:swap", () => {
  opened.map((id) => document.getElementById(id)).forEach((details) => { if (details) details.open = true; });
  refresh();
});

// <time data-until="RFC 3339" data-left="Left:"> shows the time that is left as hours, minutes and seconds, after the text data-left.
function refresh() {
  document.querySelectorAll("[data-copy][hidden]").forEach((button) => { button.hidden = !navigator.clipboard; });
  document.querySelectorAll("[data-until]").forEach((element) => {
    const left = Math.max(0, Math.floor((Date.parse(element.dataset.until) - Date.now()) / 1000));
    const parts = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
    const clock = parts.map((part) => String(part).padStart(2, "0")).join(":");
    element.textContent = [element.dataset.left, clock].filter(Boolean).join(" ");
  });
}
refresh();
setInterval(refresh, 1000);
