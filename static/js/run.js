// Follows a run over its socket. Until it is open, and when it drops, the section polls by itself (htmx); while it
// is open, polling is held back and the figures are written in place.

const FIRST_WAIT_MS = 500, LONGEST_WAIT_MS = 15_000;

let socket = null;
let seq = 0;
let wait = FIRST_WAIT_MS;

const section = () => document.getElementById("progress");
const isOver = () => ["done", "cancelled"].includes(section().dataset.state);
const isOpen = () => socket !== null && socket.readyState === WebSocket.OPEN;

function left(seconds) {
  if (seconds === null) return "–";
  if (seconds < 60) return `${seconds}\u202fs`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes}\u202fmin` : `${Math.floor(minutes / 60)}\u202fh ${String(minutes % 60).padStart(2, "0")}\u202fmin`;
}

function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function show(frame) {
  const finished = frame.done + frame.failed;
  const figures = {
    finished: grouped(finished), failed: grouped(frame.failed), reused: grouped(frame.reused),
    rate: frame.rate === null ? "–" : frame.rate.toFixed(1), left: left(frame.seconds_left),
  };
  for (const [name, text] of Object.entries(figures)) {
    const element = section().querySelector(`[data-figure="${name}"]`);
    if (element) element.textContent = text;
  }
  section().querySelector("[data-mood=failed]").classList.toggle("bad", frame.failed > 0);
  section().querySelector("[data-bar]").value = finished;
}

function showLive() {
  const badge = section().querySelector("[data-live]");
  if (badge) badge.hidden = !isOpen();
}

function open() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/ws/runs/${section().dataset.run}/`);
  socket.onopen = () => {
    wait = FIRST_WAIT_MS;
    showLive();
    if (seq) socket.send(JSON.stringify({ resume_from: seq }));
  };
  socket.onmessage = (event) => {
    const frame = JSON.parse(event.data);
    if (frame.type !== "progress") return;
    seq = frame.seq;
    const before = section().dataset.state;
    show(frame);
    if (frame.state === before) return;
    section().dataset.state = frame.state;
    socket.onclose = null;
    if (frame.is_over) socket.close();
    else socket.onclose = again;
    // Headings and the table are the server's: it is asked once.
    window.htmx.trigger(document.body, "run-over");
  };
  socket.onclose = again;
}

function again() {
  showLive();
  if (isOver()) return;
  setTimeout(open, wait);
  wait = Math.min(2 * wait, LONGEST_WAIT_MS);
}

if (section() && !isOver() && "WebSocket" in window) {
  document.addEventListener("htmx:confirm", (event) => {
    const isPoll = event.detail.elt === section() && event.detail.triggeringEvent?.type !== "run-over";
    if (isPoll && isOpen()) event.preventDefault();
  });
  document.addEventListener("htmx:afterSwap", showLive);
  open();
}
