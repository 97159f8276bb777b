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
  return JSON.parse(document.getElementById("hits")?.dataset.marks ?? "[]");
}

// Strokes at the figure's zero: one path, and so one element, for all of them.
function foundShapes(marks) {
  if (!marks.length) return [];
  const path = marks.map(([turn]) => `M${place(turn)},${figure.foot}L${place(turn)},${figure.foot + 0.04}`).join("");
  return [{ type: "path", name: "found", layer: "above", xref: "x", yref: "paper", path, line: { color: "var:accent", width: 3 } }];
}

function withFound(trace, marks) {
  if (trace.name !== "under policy" || !marks.length) return trace;
  const counts = new Map(marks);
  const said = figure.turns.map((turn) => (counts.has(turn) ? `<br>found here: ${counts.get(turn)}` : ""));
  return { ...trace, customdata: trace.customdata.map((text, i) => text + said[i]) };
}

function shapes() {
  return [...figure.layout.shapes, ...foundShapes(found()), ...marker()];
}

async function draw() {
  const marks = found();
  const data = figure.data.map((trace) => withFound(trace, marks));
  await drawFigure(plot, { data, layout: { ...figure.layout, shapes: shapes() } });
}

async function start() {
  const [answer] = await Promise.all([fetch(plot.dataset.figure), plotly(plot.dataset.plotly)]);
  if (!answer.ok) throw new Error(`the figure answered ${answer.status}`);
  figure = await answer.json();
  chosen = Number(document.getElementById("turn").value);
  await draw();
  plot.on("plotly_click", (event) => {
    const mark = event.points.find((point) => point.data.name === "agent's own");
    if (mark) window.htmx.ajax("GET", mark.customdata[1], { target: "#compactions", swap: "outerHTML show:#compactions:top" });
    const turn = turnAt(event.points[0].x);
    document.dispatchEvent(new CustomEvent("hermes:choose-turn", { detail: turn }));
  });
  document.addEventListener("hermes:theme", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  document.addEventListener("hermes:turn", (event) => {
    if (event.detail === chosen) return;
    chosen = event.detail;
    window.Plotly.relayout(plot, { shapes: paint(shapes()) });
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
