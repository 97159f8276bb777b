// Draws the timeline: plotly is loaded once the page stands, the figure comes as JSON, colours from the style
// sheet. A click chooses the turn; the chosen turn is marked. Without it the table and the scrubber remain.

import { colour } from "./palette.js";

const plot = document.getElementById("timeline");
let figure = null;
let chosen = null;

function paint(value) {
  if (Array.isArray(value)) return value.map(paint);
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, paint(one)]));
  }
  if (typeof value !== "string" || !value.startsWith("var:")) return value;
  const [name, opacity] = value.slice(4).split("/");
  const solid = colour(name);
  const parts = solid.match(/[\d.]+/g);
  return opacity && parts ? `rgba(${parts.slice(0, 3).join(",")},${opacity})` : solid;
}

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
  return [{ type: "line", layer: "above", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line: { color: paint("var:accent/0.38"), width: 7 } }];
}

async function draw() {
  const painted = paint({ data: figure.data, layout: figure.layout });
  painted.layout.shapes = [...painted.layout.shapes, ...marker()];
  await window.Plotly.react(plot, painted.data, painted.layout, { displayModeBar: false, responsive: true });
}

// plotly's map library writes a style sheet into the page unless this element is there. The page has no map.
const MAP_STYLE = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53";

function script(address) {
  const standIn = document.createElement("template");
  standIn.id = MAP_STYLE;
  document.head.append(standIn);
  return new Promise((resolve, reject) => {
    const element = document.createElement("script");
    element.src = address;
    element.onload = resolve;
    element.onerror = reject;
    document.head.append(element);
  });
}

async function start() {
  const [answer] = await Promise.all([fetch(plot.dataset.figure), script(plot.dataset.plotly)]);
  if (!answer.ok) throw new Error(`the figure answered ${answer.status}`);
  figure = await answer.json();
  plot.replaceChildren();
  chosen = Number(document.getElementById("turn").value);
  await draw();
  plot.dataset.drawn = "";
  plot.on("plotly_click", (event) => {
    const turn = turnAt(event.points[0].x);
    document.dispatchEvent(new CustomEvent("hermes:choose-turn", { detail: turn }));
  });
  document.addEventListener("hermes:theme", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  document.addEventListener("hermes:turn", (event) => {
    if (event.detail === chosen) return;
    chosen = event.detail;
    window.Plotly.relayout(plot, { shapes: [...paint(figure.layout.shapes), ...marker()] });
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
