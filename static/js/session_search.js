// Search in the session: keeps what is searched for in the addresses that leave this page, and asks again when the
// turn changes while a zone is chosen. htmx fetches; without it the form loads the page.

const form = document.getElementById("search");
const fields = document.getElementById("search-fields");
const NAMES = ["q", "regex", "tool", "role", "zone", "errors_only"];

function searched() {
  const values = new Map();
  for (const name of NAMES) {
    const all = [...fields.querySelectorAll(`[name=${name}]`)].filter((one) => one.type !== "checkbox" || one.checked);
    const value = all.at(-1)?.value ?? "";
    if (value.trim()) values.set(name, value);
  }
  return values;
}

if (form) {
  let waiting = 0;
  document.addEventListener("hermes:turn", (event) => {
    form.elements.turn.value = event.detail;
    if (!fields.querySelector("[name=zone]").value) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => form.requestSubmit(), 400);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-keeps-search] a");
    if (!link) return;
    const address = new URL(link.href);
    for (const name of NAMES) address.searchParams.delete(name);
    for (const [name, value] of searched()) address.searchParams.set(name, value);
    link.href = address;
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-keeps-search]")) return;
    for (const name of NAMES) event.target.querySelector(`[name=${name}]`)?.remove();
    for (const [name, value] of searched()) {
      const input = document.createElement("input");
      Object.assign(input, { type: "hidden", name, value });
      event.target.append(input);
    }
  });
}
