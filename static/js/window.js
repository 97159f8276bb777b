// The window: keys for the sides and the blocks, folding recalled text again, and choosing a policy at once.

const KEYS = { b: "before", s: "both", a: "after", d: "diff" };

function step(direction) {
  const blocks = [...document.querySelectorAll("#window .block")];
  if (!blocks.length) return;
  const at = blocks.indexOf(document.activeElement.closest(".block"));
  const next = blocks[Math.min(Math.max(at + direction, 0), blocks.length - 1)];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input:not([type=range], [type=checkbox]), textarea, select, [contenteditable], dialog[open]")) return;
  if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
  else if (event.key in KEYS) document.querySelector(`#window .seg [data-side="${KEYS[event.key]}"]`)?.click();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-collapse]");
  if (button) button.closest(".text").remove();
});

document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-autosubmit]")) return;
  event.target.setAttribute("aria-busy", "true");
  event.target.form.requestSubmit();
});

document.addEventListener("htmx:load", (event) => {
  for (const button of event.detail.elt.querySelectorAll?.("[data-collapse]") ?? []) button.hidden = false;
});
