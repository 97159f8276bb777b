// Draws a figure that the server made: loads plotly once, paints "var:NAME/OPACITY" with the style sheet's colours.

import { colour } from "./palette.js";

// plotly's map library writes a style sheet into the page unless this element is there. The page has no map.
const MAP_STYLE = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53";
let loading = null;

export function paint(value) {
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

export function plotly(address) {
  loading ??= new Promise((resolve, reject) => {
    const standIn = document.createElement("template");
    standIn.id = MAP_STYLE;
    const element = document.createElement("script");
    element.src = address;
    element.onload = () => resolve(window.Plotly);
    element.onerror = reject;
    document.head.append(standIn, element);
  });
  return loading;
}

export async function draw(plot, figure) {
  const drawer = await plotly(plot.dataset.plotly);
  if (!("drawn" in plot.dataset)) plot.replaceChildren();
  const { data, layout } = paint(figure);
  await drawer.react(plot, data, layout, { displayModeBar: false, responsive: true });
  plot.dataset.drawn = "";
}
