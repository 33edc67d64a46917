// The palette: one field that finds servers, tools, prompts, resources, screens and what can be done.
const palette = document.getElementById("palette");
const word = document.getElementById("palette-word");
const options = document.getElementById("palette-list");

function all() {
  return [...options.querySelectorAll("[role=option]:not([aria-disabled])")];
}

function current() {
  return options.querySelector("[aria-selected=true]");
}

function mark(option) {
  current()?.setAttribute("aria-selected", "false");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  if (option) word.setAttribute("aria-activedescendant", option.id);
  else word.removeAttribute("aria-activedescendant");
}

function move(step) {
  const each = all();
  mark(each[(each.indexOf(current()) + step + each.length) % each.length]);
}

function take(option) {
  if (!option || option.ariaDisabled) return;
  const { href, get, post, open } = option.dataset;
  palette.close();
  if (href) location.assign(href);
  if (get) htmx.ajax("GET", get, { target: "#dialog-body", swap: "innerHTML" });
  if (post) htmx.ajax("POST", `${post}?view=${document.getElementById("cards")?.dataset.view ?? ""}`, { swap: "none" });
  if (open) document.getElementById(open).showModal();
}

function show() {
  if (document.querySelector("dialog[open]")) return;
  word.value = "";
  palette.showModal();
  word.dispatchEvent(new Event("opened"));
}

const KEYS = { ArrowDown: () => move(1), ArrowUp: () => move(-1), Enter: () => take(current()) };

word.addEventListener("keydown", (event) => {
  const act = KEYS[event.key];
  if (!act || event.isComposing) return;
  event.preventDefault();
  act();
});

options.addEventListener("click", ({ target }) => take(target.closest("[role=option]")));
document.getElementById("open-palette").addEventListener("click", show);

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  show();
});

document.addEventListener("htmx:after:swap", () => {
  if (palette.open && !current()) mark(all()[0]);
});
