// Draws the bars of the card "Cost" whenever the card comes, and again in other colours. The table below holds the same.

import { draw } from "./charts.js";

let figure = null;

async function paintAgain() {
  const plot = document.getElementById("cost-figure");
  if (plot && figure) await draw(plot, figure);
}

async function start() {
  const plot = document.getElementById("cost-figure");
  if (!plot || "asked" in plot.dataset) return;
  plot.dataset.asked = "";
  try {
    const answer = await fetch(plot.dataset.figure);
    if (!answer.ok) throw new Error(`the figure answered ${answer.status}`);
    figure = await answer.json();
    await draw(plot, figure);
  } catch {
    const note = document.createElement("p");
    note.className = "failed";
    note.textContent = "The chart could not be drawn; the table below holds the same figures.";
    plot.replaceChildren(note);
  }
}

start();
document.addEventListener("htmx:afterSwap", start);
document.addEventListener("hermes:theme", paintAgain);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paintAgain);
