// The list of servers: asks for the pages that are not there yet, and keeps each server in the section
// and at the place where it belongs, without moving the others.
const list = document.getElementById("cards");
const arrivals = document.getElementById("arrivals");
const { sort, group, view } = list.dataset;
const RANKS = { bad: "0", busy: "1", good: "2", idle: "3" };
const ASKING = ["edit", "delete", "approve"];

function sectionKey({ dataset }) {
  if (group === "failing") return dataset.tone === "bad" ? "bad" : "rest";
  return { status: dataset.tone, project: dataset.project, tag: dataset.tag }[group] ?? "rest";
}

// Figures change all the time: a server that comes into a section sorted by them stands at its top.
function orderKey({ dataset }) {
  return { name: dataset.name, status: RANKS[dataset.tone] + dataset.name }[sort] ?? "";
}

// What has no tag stands below all that has one.
function isAfter(key, other) {
  return group === "tag" && (!key || !other) ? !key : key > other;
}

function sectionFor(key) {
  const sections = [...list.querySelectorAll(":scope > .section")];
  const there = sections.find((each) => each.dataset.section === key);
  if (there) return there;
  const made = sections[0].cloneNode(true);
  made.dataset.section = key;
  made.id = `section-${list.children.length + 1}`;
  made.querySelectorAll(".page").forEach((each, at) => (at ? each.remove() : each.replaceChildren()));
  const name = made.querySelector(".section-name");
  name.id = `section-name-${list.children.length + 1}`;
  made.setAttribute("aria-labelledby", name.id);
  name.querySelector("span").textContent = key || list.dataset.unnamed;
  list.insertBefore(made, sections.find((each) => isAfter(each.dataset.section, key)) ?? null);
  return made;
}

function put(card, parent, next) {
  const focus = card.contains(document.activeElement) ? document.activeElement : null;
  if (parent.moveBefore) parent.moveBefore(card, next);
  else parent.insertBefore(card, next);
  if (focus && document.activeElement !== focus) focus.focus({ preventScroll: true });
}

function place(card) {
  const section = sectionFor(sectionKey(card));
  const key = orderKey(card);
  const others = [...section.querySelectorAll(".card")].filter((each) => each !== card);
  const next = others.find((each) => orderKey(each) >= key);
  if (next) put(card, next.parentElement, next);
  else put(card, (others.at(-1) ?? section.querySelector(".page > *"))?.parentElement ?? section.querySelector(".page"), null);
}

function isMisplaced(card, section, before) {
  return sectionKey(card) !== section.dataset.section || (before !== null && orderKey(card) < before);
}

function name(section) {
  const waiting = [...section.querySelectorAll(".page[data-ids]")].flatMap((each) => each.dataset.ids.trim().split(" "));
  const count = section.querySelectorAll(".card").length + waiting.length;
  section.querySelector(".count").textContent = count;
  return count;
}

function nameSections() {
  const sections = [...list.querySelectorAll(":scope > .section")];
  const counts = sections.map(name);
  const failing = sections.findIndex((each) => each.dataset.section === "bad");
  const plain = group === "none" || (group === "failing" && !counts[failing]);
  sections.forEach((each, at) => (each.querySelector(".section-name").hidden = plain || !counts[at]));
}

function arrange() {
  const there = new Set();
  const misplaced = [];
  for (const section of list.querySelectorAll(":scope > .section")) {
    let before = null;
    for (const card of section.querySelectorAll(".card")) {
      if (there.has(card.id)) card.remove();
      else if (isMisplaced(card, section, before)) misplaced.push(card);
      else before = orderKey(card);
      there.add(card.id);
    }
  }
  // One that went and came again between two updates is still there as it was.
  for (const card of [...arrivals.children]) {
    if (there.has(card.id)) list.querySelector(`[id="${card.id}"]`).remove();
    misplaced.push(card);
  }
  misplaced.forEach(place);
  if (list.querySelector(":scope > .section")) nameSections();
}

async function load(page) {
  const { ids } = page.dataset;
  page.removeAttribute("data-ids");
  const asked = new URLSearchParams({ view, ids });
  await htmx.ajax("GET", `/ui/servers/page?${asked}`, { target: page, swap: "innerHTML" });
  if (!page.childElementCount) page.dataset.ids = ids;
  return page.childElementCount > 0;
}

let loading = false;
async function loadPages() {
  if (loading) return;
  loading = true;
  for (let page = list.querySelector(".page[data-ids]"); page; page = list.querySelector(".page[data-ids]")) {
    if (!(await load(page).catch(() => false))) break;
    await new Promise((resume) => setTimeout(resume));
  }
  loading = false;
  list.toggleAttribute("data-whole", !list.querySelector(".page[data-ids]"));
}

// The buttons of a row say what they do; a request of their own for each would make the list heavy.
list.addEventListener("click", ({ target }) => {
  const button = target.closest(".list-row [data-act]");
  if (!button || button.ariaDisabled === "true") return;
  const { act } = button.dataset;
  const path = `/ui/servers/${button.closest(".card").id.replace("card-", "")}/${act}?view=${encodeURIComponent(view)}`;
  if (ASKING.includes(act)) {
    htmx.ajax("GET", path, { target: "#dialog-body", swap: "innerHTML" });
    return;
  }
  button.ariaDisabled = "true";
  htmx.ajax("POST", path, { swap: "none" }).finally(() => button.removeAttribute("aria-disabled"));
});

document.addEventListener("htmx:after:swap", () => {
  arrange();
  if (list.querySelector(".page[data-ids]")) loadPages();
});
document.addEventListener("yardback", loadPages);
loadPages();
