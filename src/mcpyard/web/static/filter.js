// What is shown of a list: by a word, and by a tone. Marks survive updates, because the attribute
// they are made of is one that updates leave alone.
const search = document.getElementById("search");
const none = document.getElementById("no-match");
let tone = "all";
let narrowed = false;

function matches(item, word) {
  const fits = tone === "all" || item.dataset.tone === tone;
  return fits && (!word || item.textContent.toLowerCase().includes(word));
}

function narrow(word) {
  const items = document.querySelectorAll("#cards .card, [data-filtered] > *");
  const shown = new Set();
  for (const item of items) {
    const out = !matches(item, word);
    if (out !== item.hasAttribute("data-out")) item.toggleAttribute("data-out", out);
    if (!out) shown.add(item.closest(".section"));
  }
  for (const section of document.querySelectorAll("#cards > .section")) {
    section.toggleAttribute("data-out", !shown.has(section) && section.querySelector(".card") !== null);
  }
  if (none) none.hidden = shown.size > 0 || items.length === 0;
}

export function applyFilter() {
  const word = search?.value.trim().toLowerCase() ?? "";
  const narrows = word !== "" || tone !== "all";
  if (narrows || narrowed) narrow(word);
  narrowed = narrows;
  for (const tile of document.querySelectorAll("button.tile")) {
    const pressed = String(tile.dataset.tone === tone);
    if (tile.getAttribute("aria-pressed") !== pressed) tile.setAttribute("aria-pressed", pressed);
  }
}

search?.addEventListener("input", applyFilter);
document.addEventListener("click", ({ target }) => {
  const tile = target.closest("button.tile");
  if (!tile) return;
  tone = tile.dataset.tone === tone ? "all" : tile.dataset.tone;
  applyFilter();
});
applyFilter();
