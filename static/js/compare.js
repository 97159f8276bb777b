// Draws the dollars of a comparison, once the page stands. Without it the sums stand in the table.

import { draw, plotly } from "./charts.js";

const plot = document.getElementById("dollars");

async function start() {
  const [answer] = await Promise.all([fetch(plot.dataset.figure), plotly(plot.dataset.plotly)]);
  if (!answer.ok) throw new Error(`the figure answered ${answer.status}`);
  const figure = await answer.json();
  const again = () => draw(plot, figure);
  await again();
  document.addEventListener("hermes:theme", again);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
}

start().catch(() => {
  const note = document.createElement("p");
  note.className = "failed";
  note.textContent = "The chart could not be drawn; the table below holds the sums.";
  plot.replaceChildren(note);
});
