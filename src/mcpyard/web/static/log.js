// A log that is followed live. Lines and log messages come in bursts: they are gathered, a few are shown with each
// picture, and only the newest are kept, so that a flood neither freezes the page nor fills it.
const MOST = 2000;
const AT_ONCE = 80;
const ANSI = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])/g;
const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

const log = document.getElementById("log");
const lines = document.getElementById("lines");
const filter = document.getElementById("search");
const source = document.getElementById("log-source");
const level = document.getElementById("log-level");
const LEVELS = [...level.options].map((each) => each.value);
const follow = document.getElementById("follow");
const pause = document.getElementById("pause");
const count = document.getElementById("log-count");
let kept = [];
let waiting = [];
let last = 0;
let scrolled = 0;
let shown = 0;

function matches(line) {
  if (source.value !== "all" && (source.value === "mcp") !== Boolean(line.level)) return false;
  if (line.level && LEVELS.indexOf(line.level) < level.selectedIndex) return false;
  return `${line.logger ?? ""} ${line.text}`.toLowerCase().includes(filter.value.trim().toLowerCase());
}

function inert(text) {
  return text.replace(ANSI, "").replace(UNSEEN, "\ufffd");
}

function badgeOf(line) {
  const badge = document.createElement("span");
  badge.className = "badge level";
  badge.dataset.level = line.level;
  badge.textContent = inert(line.logger ? `${line.level} ${line.logger}` : line.level);
  return badge;
}

function element(line) {
  const row = document.createElement("div");
  row.className = "entry";
  const time = document.createElement("time");
  time.textContent = line.at.slice(11, 23);
  row.append(time, ...(line.level ? [badgeOf(line), " "] : []), inert(line.text));
  return row;
}

// A group of lines is laid out together, not at all while it is out of sight, and goes as a whole.
function add(fresh) {
  for (let at = 0; at < fresh.length; at += AT_ONCE) {
    const group = document.createElement("div");
    group.append(...fresh.slice(at, at + AT_ONCE).map(element));
    lines.append(group);
    shown += group.childElementCount;
  }
  while (shown > MOST) {
    shown -= lines.firstElementChild.childElementCount;
    lines.firstElementChild.remove();
  }
}

function show() {
  requestAnimationFrame(show);
  if (pause.getAttribute("aria-pressed") === "true" || !waiting.length) return;
  const fresh = waiting.splice(0, AT_ONCE);
  kept = [...kept, ...fresh].slice(-MOST);
  add(fresh.filter(matches));
  count.textContent = count.dataset.words.replace("{n}", kept.length);
  if (follow.checked) {
    lines.scrollTop = lines.scrollHeight;
    scrolled = lines.scrollTop;
  }
}

function take(frame) {
  const data = frame.split("\n").find((each) => each.startsWith("data: "));
  if (!data) return;
  const line = JSON.parse(data.slice(6));
  if (line.number <= last) return;
  last = line.number;
  waiting.push(line);
  if (waiting.length > MOST) waiting = waiting.slice(-MOST / 2);
}

async function listen() {
  const answer = await fetch(log.dataset.source, { headers: { "X-Mcpyard-Key": window.yardKey } });
  if (!answer.ok) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const frames = (rest + value).split("\n\n");
    rest = frames.pop();
    frames.forEach(take);
  }
}

async function keepListening() {
  await listen().catch(() => {});
  last = 0;
  setTimeout(keepListening, 2000);
}

function showAgain() {
  lines.replaceChildren();
  shown = 0;
  add(kept.filter(matches));
}

filter.addEventListener("input", showAgain);
source.addEventListener("change", showAgain);
level.addEventListener("change", showAgain);
pause.addEventListener("click", () => {
  pause.setAttribute("aria-pressed", String(pause.getAttribute("aria-pressed") !== "true"));
});
lines.addEventListener("scroll", () => {
  if (lines.scrollTop < scrolled - 4) follow.checked = false;
});
document.getElementById("download").addEventListener("click", () => {
  const text = kept.map((each) => `${each.at} ${each.level ? `[${each.level}] ` : ""}${each.text}`).join("\n");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = `${log.dataset.name}.log`;
  link.click();
  URL.revokeObjectURL(link.href);
});

show();
keepListening();
