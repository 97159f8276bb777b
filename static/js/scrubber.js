// Moves between turns: the slider, arrow keys, [ and ] to the events. htmx fetches the window; this only sets
// the slider and says so ("hermes:turn" on document). Without it the slider is a form with a button.

const form = document.getElementById("scrubber");
const slider = document.getElementById("turn");

function announce() {
  form.querySelector("[data-turn-number]").textContent = slider.value;
  document.dispatchEvent(new CustomEvent("hermes:turn", { detail: Number(slider.value) }));
}

function choose(turn) {
  const bounded = Math.min(Math.max(turn, 0), Number(slider.max));
  if (bounded === Number(slider.value)) return;
  slider.value = bounded;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}

function jump(direction) {
  const target = document.getElementById("window").dataset[direction];
  if (target !== "") choose(Number(target));
}

// The server's window says which turn and side it shows; slider, form and jump links follow it.
function follow(shown) {
  slider.value = shown.dataset.turn;
  form.elements.side.value = shown.dataset.side;
  for (const link of form.querySelectorAll("[data-jump]")) {
    const turn = shown.dataset[link.dataset.jump];
    if (turn === "") {
      link.removeAttribute("href");
      link.setAttribute("aria-disabled", "true");
    } else {
      const address = new URL(location.href);
      address.searchParams.set("turn", turn);
      address.searchParams.delete("open");
      link.href = address;
      link.removeAttribute("aria-disabled");
    }
  }
  for (const link of document.querySelectorAll("#timeline-title + .seg a")) {
    const address = new URL(link.href);
    address.searchParams.set("turn", shown.dataset.turn);
    address.searchParams.set("side", shown.dataset.side);
    link.href = address;
  }
  announce();
}

function isTyping(target) {
  return target.closest("input:not([type=range], [type=checkbox]), textarea, select, [contenteditable], dialog[open]") !== null;
}

if (form) {
  slider.addEventListener("input", announce);
  document.addEventListener("hermes:choose-turn", (event) => choose(event.detail));
  form.addEventListener("click", (event) => {
    const link = event.target.closest("[data-jump]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    jump(link.dataset.jump);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key === "[") jump("previous");
    else if (event.key === "]") jump("next");
    else if (event.key === "ArrowLeft" && event.target !== slider) choose(Number(slider.value) - 1);
    else if (event.key === "ArrowRight" && event.target !== slider) choose(Number(slider.value) + 1);
    else return;
    event.preventDefault();
  });
  document.addEventListener("htmx:afterSwap", () => {
    const shown = document.getElementById("window");
    if (Number(shown.dataset.turn) !== Number(slider.value) && form.matches(".htmx-request")) return;
    follow(shown);
  });
}
