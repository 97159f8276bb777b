// Draws the timeline: plotly is loaded once the page stands, the figure comes as JSON, colours from the style
// sheet. A click chooses the turn; the chosen turn is marked. Without it the table and the scrubber remain.

import { draw as drawFigure, paint, plotly } from "./charts.js";

const plot = document.getElementById("timeline");
let figure = null;
let chosen = null;

function place(turn) {
  let low = 0, high = figure.turns.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (figure.turns[middle] < turn) low = middle + 1; else high = middle;
  }
  return figure.at[low];
}

function turnAt(x) {
  let best = 0;
  figure.at.forEach((at, i) => { if (Math.abs(at - x) < Math.abs(figure.at[best] - x)) best = i; });
  return figure.turns[best];
}

function marker() {
  if (chosen === null) return [];
  const x = place(chosen);
  return [{ type: "line", layer: "above", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line: { color: "var:accent/0.38", width: 7 } }];
}

// What a search found, at the turns that first held it: [turn, messages] pairs of the list of hits.
function found() {
  const marks = JSON.parse(document.getElementById("hits")?.dataset.marks ?? "[]");
  if (!marks.length) return [];
  return [{
    type: "scatter", mode: "markers", name: "found", cliponaxis: false,
    x: marks.map(([turn]) => place(turn)), y: marks.map(() => 0), customdata: marks.map(([, messages]) => messages),
    marker: { symbol: "triangle-up", size: 11, color: "var:accent", line: { color: "var:card", width: 1 } },
    hovertemplate: "found here: %{customdata}<extra></extra>",
  }];
}

async function draw() {
  const shapes = [...figure.layout.shapes, ...marker()];
  await drawFigure(plot, { data: [...figure.data, ...found()], layout: { ...figure.layout, shapes } });
}

async function start() {
  const [answer] = await Promise.all([fetch(plot.dataset.figure), plotly(plot.dataset.plotly)]);
  if (!answer.ok) throw new Error(`the figure answered ${answer.status}`);
  figure = await answer.json();
  chosen = Number(document.getElementById("turn").value);
  await draw();
  plot.on("plotly_click", (event) => {
    const mark = event.points.find((point) => point.data.name === "agent's own");
    if (mark) window.htmx.ajax("GET", mark.customdata[1], { target: "#compaction", swap: "outerHTML show:#compaction:top" });
    const turn = turnAt(event.points[0].x);
    document.dispatchEvent(new CustomEvent("hermes:choose-turn", { detail: turn }));
  });
  document.addEventListener("hermes:theme", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  document.addEventListener("hermes:turn", (event) => {
    if (event.detail === chosen) return;
    chosen = event.detail;
    window.Plotly.relayout(plot, { shapes: paint([...figure.layout.shapes, ...marker()]) });
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.elt.id === "hits") draw();
  });
}

if (plot) {
  start().catch(() => {
    const note = document.createElement("p");
    note.className = "failed";
    note.textContent = "The chart could not be drawn; the table below holds the same figures.";
    plot.replaceChildren(note);
  });
}
