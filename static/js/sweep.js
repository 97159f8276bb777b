// Draws the scatter and the map of a sweep. A click on a point shows its trial below; while the sweep goes on the
// scatter is asked for again whenever the table came anew. Without this script the tables hold the same figures.

import { draw } from "./charts.js";

const figures = new Map();

async function load(plot) {
  const answer = await fetch(plot.dataset.figure);
  if (!answer.ok) throw new Error(`the figure answered ${answer.status}`);
  figures.set(plot.id, await answer.json());
}

function show(event, address) {
  const number = event.points[0]?.customdata?.[0];
  if (number === undefined) return;
  const trial = address.replace(/0\/$/, `${number}/`);
  window.htmx.ajax("GET", trial, { target: "#trial", swap: "outerHTML" });
}

async function paintAll() {
  for (const [id, figure] of figures) {
    const plot = document.getElementById(id);
    if (plot) await draw(plot, figure);
  }
}

async function start(id) {
  const plot = document.getElementById(id);
  if (!plot) return;
  try {
    await load(plot);
    const isFirst = !("drawn" in plot.dataset);
    await draw(plot, figures.get(id));
    if (isFirst && plot.dataset.trial) plot.on("plotly_click", (event) => show(event, plot.dataset.trial));
  } catch {
    const note = document.createElement("p");
    note.className = "failed";
    note.textContent = "The chart could not be drawn; the table below holds the same figures.";
    plot.replaceChildren(note);
  }
}

start("scatter").then(() => start("heat"));
document.addEventListener("hermes:theme", paintAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paintAll);
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.elt.id !== "found" && event.detail.target?.id !== "found") return;
  start("heat");
  if (document.getElementById("progress")?.dataset.state === "running") start("scatter");
});
