// The box in the head of the sessions table ticks all rows of the page, and the buttons below wait until
// a row is ticked. The table is swapped as a whole, so that everything is asked of it anew.

const boxes = () => [...document.querySelectorAll("input[name=session][form=chosen]")];

function show() {
  const all = document.querySelector("[data-choose-all]");
  const chosen = boxes().filter((box) => box.checked).length;
  for (const button of document.querySelectorAll("#chosen button")) button.disabled = chosen === 0;
  if (!all) return;
  all.hidden = false;
  all.checked = chosen > 0 && chosen === boxes().length;
  all.indeterminate = chosen > 0 && chosen < boxes().length;
}

document.addEventListener("change", (event) => {
  if (event.target.matches?.("[data-choose-all]")) for (const box of boxes()) box.checked = event.target.checked;
  if (event.target.matches?.("[data-choose-all], input[name=session]")) show();
});
document.addEventListener("htmx:afterSettle", show);
window.addEventListener("pageshow", show);
show();
