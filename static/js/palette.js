// The colours of the style sheet for scripts that draw: colour("c-tool_result") is "rgb(...)".
// Listen for "hermes:theme" on document to draw again when light and dark change.

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function announceTheme() {
  document.dispatchEvent(new CustomEvent("hermes:theme"));
}
