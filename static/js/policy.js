// The policy page: draws the chart again when a preview brought new figures, marks fields that are wrong,
// adds rows for pin rules. Without it the Preview button does the same.

import { draw } from "./charts.js";

const form = document.getElementById("policy-form");
const plot = document.getElementById("policy-chart");

function figure() {
  return JSON.parse(document.getElementById("chart-data").dataset.figure);
}

async function redraw() {
  if (!plot) return;
  try {
    await draw(plot, figure());
  } catch {
    const note = document.createElement("p");
    note.className = "failed";
    note.textContent = "The chart could not be drawn; the table below holds the sums.";
    plot.replaceChildren(note);
  }
}

function markFaults() {
  for (const list of form.querySelectorAll(".errors")) {
    const field = document.getElementById(list.id.replace(/^e-/, "f-"));
    if (!field) continue;
    if (list.children.length) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }
}

function lastPin() {
  return [...form.querySelectorAll("[data-pin]")].at(-1);
}

function addPin() {
  const row = lastPin().cloneNode(true);
  const old = Number(row.querySelector("input").name.split("-")[1]);
  for (const element of row.querySelectorAll("[name], [id]")) {
    for (const attribute of ["name", "id"]) {
      const value = element.getAttribute(attribute);
      if (value) element.setAttribute(attribute, value.replace(`pins-${old}`, `pins-${old + 1}`));
    }
    if (element.matches(".errors, .consequence")) element.replaceChildren();
    else if (element.type === "checkbox") element.checked = false;
    else element.value = "";
  }
  lastPin().after(row);
  row.querySelector("input").focus();
}

for (const button of document.querySelectorAll("[data-preview]")) button.hidden = true;
const add = form.querySelector("[data-add-pin]");
add.hidden = false;
add.addEventListener("click", addPin);

form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches("input[type=text]")) return;
  event.preventDefault();
  form.dispatchEvent(new CustomEvent("hermes:draft"));
});

document.addEventListener("htmx:afterSettle", markFaults);
document.addEventListener("htmx:oobAfterSwap", (event) => {
  if (event.detail.target.id === "chart-data") redraw();
});
document.addEventListener("hermes:theme", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
redraw();
