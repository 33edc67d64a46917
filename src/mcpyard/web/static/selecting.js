// Several servers at once: they are ticked, and a bar says what can be done to all of them.
const list = document.getElementById("cards");
const bar = document.getElementById("bulk");
const count = bar.querySelector("[data-count]");
const chosen = new Set();
let last = null;

function ticks() {
  return [...list.querySelectorAll(".card:not([data-out]) .select")];
}

function show() {
  bar.hidden = !chosen.size;
  count.textContent = count.dataset.words.replace("{n}", chosen.size);
}

function choose(tick, on) {
  tick.checked = on;
  if (on) chosen.add(tick.value);
  else chosen.delete(tick.value);
}

function between(tick, other) {
  const all = ticks();
  const [from, to] = [all.indexOf(tick), all.indexOf(other)].sort((one, two) => one - two);
  return from < 0 ? [tick] : all.slice(from, to + 1);
}

list.addEventListener("click", (event) => {
  const tick = event.target.closest(".select");
  if (!tick) return;
  const range = event.shiftKey && last?.isConnected ? between(tick, last) : [tick];
  range.forEach((each) => choose(each, tick.checked));
  last = tick;
  show();
});

bar.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (!button) return;
  if (button.matches("[data-every]")) ticks().forEach((each) => choose(each, true));
  if (button.matches("[data-none]")) [...list.querySelectorAll(".select")].forEach((each) => choose(each, false));
  if (button.matches("[data-none]")) chosen.clear();
  const { bulk, asks } = button.dataset;
  const values = { ids: [...chosen].join(" ") };
  if (bulk && asks !== undefined) htmx.ajax("POST", `/ui/bulk/${bulk}/ask`, { target: "#dialog-body", swap: "innerHTML", values });
  else if (bulk) htmx.ajax("POST", `/ui/bulk/${bulk}`, { swap: "none", values });
  show();
});

// What is drawn anew is ticked as before, and what is gone is not chosen any more.
document.addEventListener("htmx:after:swap", () => {
  if (!chosen.size) return;
  for (const each of [...chosen]) {
    const tick = document.getElementById(`card-${each}`)?.querySelector(".select");
    if (!tick) chosen.delete(each);
    else if (!tick.checked) tick.checked = true;
  }
  show();
});
