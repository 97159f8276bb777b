// What every page does: light or dark, the list of keys, a few keys, and buttons that copy.
// Nothing on a page depends on it.

import { announceTheme } from "./palette.js";

const root = document.documentElement;

function isDark() {
  const chosen = root.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function chooseTheme(theme) {
  root.dataset.theme = theme;
  document.cookie = `theme=${theme}; path=/; max-age=31536000; samesite=lax`;
  announceTheme();
}

function showThemeIcon(button) {
  const use = button.querySelector("use");
  use.setAttribute("href", use.getAttribute("href").replace(/#.*$/, isDark() ? "#sun" : "#moon"));
}

const toggle = document.querySelector("[data-theme-toggle]");
if (toggle) {
  toggle.hidden = false;
  showThemeIcon(toggle);
  toggle.addEventListener("click", () => {
    chooseTheme(isDark() ? "light" : "dark");
    showThemeIcon(toggle);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    showThemeIcon(toggle);
    if (!root.dataset.theme) announceTheme();
  });
}

const help = document.getElementById("help");
const helpButton = document.querySelector("[data-help]");
if (help && helpButton) {
  helpButton.hidden = false;
  helpButton.addEventListener("click", () => help.showModal());
  help.addEventListener("click", (event) => {
    if (event.target === help) help.close();
  });
}

function isTyping(target) {
  return target.closest("input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]") !== null;
}

let wentToGo = 0;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (event.key === "?" && help && !help.open) {
    help.showModal();
  } else if (event.key === "/") {
    const search = document.querySelector("[data-search]");
    if (!search) return;
    event.preventDefault();
    search.focus();
    search.select();
  } else if (event.key === "g") {
    wentToGo = event.timeStamp;
  } else if (event.key === "p" && event.timeStamp - wentToGo < 1500) {
    location.assign("/");
  }
});

function offerCopying(scope) {
  if (!navigator.clipboard) return;
  for (const button of scope.querySelectorAll("[data-copy]")) button.hidden = false;
}
offerCopying(document);
document.addEventListener("htmx:load", (event) => offerCopying(event.detail.elt));
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  const use = button.querySelector("use");
  const before = use.getAttribute("href");
  use.setAttribute("href", before.replace(/#.*$/, "#check"));
  setTimeout(() => use.setAttribute("href", before), 1200);
});

// A floating menu closes when the reader looks elsewhere.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
