// Keys for everything that is done often; none of them while somebody types, or switched them off.
const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";

function items() {
  return [...document.querySelectorAll("#cards .card:not([data-out]), [data-filtered] > :not([data-out])")];
}

function current() {
  return document.activeElement?.closest(".card, .head, [data-filtered] > *") ?? document.querySelector(".head");
}

function move(step) {
  const all = items();
  const at = all.indexOf(current());
  const next = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + step))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

function press(selector) {
  current()?.querySelector(selector)?.click();
}

const KEYS = {
  "/": () => document.getElementById("search")?.focus(),
  j: () => move(1),
  k: () => move(-1),
  s: () => press("[data-act=start], [data-act=stop]"),
  r: () => press("[data-act=restart]"),
  x: () => press(".select"),
  "?": () => document.getElementById("help").showModal(),
};

document.addEventListener("keydown", (event) => {
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (!plain || event.target.matches(TYPING) || document.querySelector("dialog[open]")) return;
  if (event.key === "Enter" && event.target.matches(".card")) press("h2 a");
  const act = document.documentElement.dataset.keys !== "off" && KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
