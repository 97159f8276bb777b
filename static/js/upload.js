// Files dropped or chosen go to the server one request each, so that every one has its progress and
// its outcome. The server answers a list item, which takes the place of the progress line. Without
// this script the form is posted whole, and the server answers a page.

const form = document.querySelector("form[data-upload]");
const say = form.dataset;
const list = form.querySelector(".uploads");
const picker = form.querySelector("input[type=file]");
const queue = [];
let isSending = false;

for (const plain of form.querySelectorAll("[data-plain]")) plain.hidden = true;
const choose = form.querySelector("[data-choose]");
choose.hidden = false;
choose.addEventListener("click", () => picker.click());
picker.addEventListener("change", () => {
  for (const file of picker.files) add(file);
  picker.value = "";
});
form.addEventListener("submit", (event) => event.preventDefault());

// The whole page takes a drop: a file that misses the frame must not replace the page.
let depth = 0;
const carriesFiles = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
document.addEventListener("dragenter", (event) => {
  if (!carriesFiles(event)) return;
  depth += 1;
  form.classList.add("over");
});
document.addEventListener("dragleave", (event) => {
  if (!carriesFiles(event)) return;
  depth = Math.max(0, depth - 1);
  form.classList.toggle("over", depth > 0);
});
document.addEventListener("dragover", (event) => {
  if (carriesFiles(event)) event.preventDefault();
});
document.addEventListener("drop", (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  depth = 0;
  form.classList.remove("over");
  for (const item of event.dataTransfer.items) {
    const file = item.getAsFile();
    if (!file) continue;
    if (item.webkitGetAsEntry?.()?.isDirectory) fail(line(file), say.sayFolder);
    else add(file);
  }
});

window.addEventListener("beforeunload", (event) => {
  if (isSending) event.preventDefault();
});

function element(tag, className, text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "i");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `${say.icons}#${name}`);
  svg.append(use);
  return svg;
}

function line(file) {
  const item = element("li", "upload");
  const row = element("div", "line");
  row.append(element("span", "name ellipsis", file.name), element("span", "state", say.sayWaiting));
  const progress = document.createElement("progress");
  progress.max = 100;
  progress.value = 0;
  progress.setAttribute("aria-label", file.name);
  item.append(row, progress);
  list.append(item);
  return item;
}

function fail(item, message) {
  item.classList.add("failed");
  item.querySelector("progress")?.remove();
  item.querySelector(".state")?.remove();
  item.querySelector(".line").prepend(icon("cross"));
  item.append(element("p", "", message));
}

function add(file) {
  const item = line(file);
  if (file.size > Number(say.maxBytes)) return fail(item, say.sayLarge);
  if (file.size === 0) return fail(item, say.sayEmpty);
  queue.push([file, item]);
  if (!isSending) sendNext();
}

function sendNext() {
  const next = queue.shift();
  isSending = next !== undefined;
  if (isSending) send(...next);
}

function send(file, item) {
  const body = new FormData();
  // The token and the format come before the file: a server that stops reading early has seen them.
  for (const [name, value] of new FormData(form)) if (name !== "files") body.append(name, value);
  body.append("files", file, file.name);

  const state = item.querySelector(".state");
  const progress = item.querySelector("progress");
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("HX-Request", "true");
  request.upload.addEventListener("progress", (event) => {
    if (!event.lengthComputable) return;
    const share = Math.round((event.loaded / event.total) * 100);
    progress.value = share;
    state.textContent = `${share}\u202f%`;
  });
  request.upload.addEventListener("load", () => {
    progress.removeAttribute("value");
    state.textContent = say.sayReading;
  });
  request.addEventListener("load", () => {
    finish(item, request);
    sendNext();
  });
  for (const kind of ["error", "abort", "timeout"]) {
    request.addEventListener(kind, () => {
      fail(item, say.sayLost);
      sendNext();
    });
  }
  request.send(body);
}

// One refresh at a time. Not a request of htmx's: the answer replaces the table, and with it what the table still asks.
let isRefreshing = false;
let isStale = false;

async function refreshSessions() {
  isStale = true;
  if (isRefreshing) return;
  isRefreshing = true;
  while (isStale) {
    isStale = false;
    const answer = await fetch(location.href, { headers: { "HX-Request": "true", "HX-Target": "sessions" } });
    if (answer.ok) htmx.swap("#sessions", await answer.text(), { swapStyle: "outerHTML" });
  }
  isRefreshing = false;
}

function finish(item, request) {
  const type = request.getResponseHeader("Content-Type") ?? "";
  const answer = type.startsWith("text/html") ? new DOMParser().parseFromString(request.responseText, "text/html") : null;
  const results = answer ? [...answer.querySelectorAll("li.upload[data-status]")] : [];
  if (results.length > 0) {
    const name = item.querySelector(".name");
    for (const result of results) {
      if (!result.querySelector(".name")) result.querySelector(".line").append(name.cloneNode(true));
    }
    item.replaceWith(...results);
    if (request.status === 200) refreshSessions();
  } else if (type.startsWith("text/plain")) {
    fail(item, request.responseText.slice(0, 500));
  } else if (request.status === 413 && answer) {
    fail(item, [...answer.querySelectorAll("main h1, main h1 + p")].map((part) => part.textContent.trim()).join(" "));
  } else if (request.status === 200 || request.status === 401 || request.status === 403) {
    fail(item, say.saySignedOut);
  } else {
    fail(item, `${say.sayOdd} ${request.status} ${request.statusText}`);
  }
}
