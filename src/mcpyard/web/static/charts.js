// The charts of a screen: asks for their numbers, draws them, and writes them as text beside.
import { KINDS, TABLES, TEXTS } from "./chart_kinds.js";

const place = document.getElementById("charts");
const words = JSON.parse(place.dataset.words);
const { server } = place.dataset;
const figures = [...place.querySelectorAll("[data-chart]")];
const SOURCES = { calls: "calls", latency: "calls", memory: "usage", cpu: "usage" };
const HEIGHT = 220;
const AGAIN = 15_000;
const DAY = 24 * 3600;
const HOURS = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const DAYS = { month: "numeric", day: "numeric" };
const whole = new Intl.DateTimeFormat(document.documentElement.lang, { ...DAYS, ...HOURS });
const plots = new Map();
let range = place.querySelector("[name=chart-range]:checked").value;
let asked = 0;

function colour(name) {
  const probe = document.createElement("i");
  probe.style.color = `var(--${name})`;
  place.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

function faint(name, share) {
  return `color-mix(in srgb, ${colour(name)} ${share * 100}%, transparent)`;
}

// The canvas does not know every way to write a colour; a style does.
function plain(value) {
  const probe = document.createElement("i");
  probe.style.color = value;
  place.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

const tools = { words, colour: (name) => plain(`var(--${name})`), faint: (name, share) => plain(faint(name, share)) };

function optionsOf(drawn, data, width) {
  const grid = { stroke: tools.colour("edge"), width: 1 };
  const axis = { stroke: tools.colour("soft"), grid, ticks: { show: false }, font: "12px system-ui" };
  const times = (_, splits) => splits.map((each) => moments.format(each * 1000));
  const moments = new Intl.DateTimeFormat(document.documentElement.lang, data.until - data.since > DAY ? DAYS : HOURS);
  const values = drawn.unit ? (_, splits) => splits.map((each) => (each == null ? "" : drawn.unit(each))) : undefined;
  return {
    width,
    height: HEIGHT,
    series: [{ label: words.time, value: (_, at) => (at == null ? "–" : whole.format(at * 1000)) }, ...drawn.series],
    bands: drawn.bands,
    axes: [{ ...axis, values: times }, { ...axis, size: 64, values }],
    scales: { x: { range: [data.since, data.until] }, y: drawn.y },
    cursor: { drag: { x: false, y: false } },
    legend: { live: true, markers: { dash: (plot, at) => (plot.series[at].dash ? "dashed" : "solid") } },
  };
}

function isEmpty(drawn) {
  return drawn.series.length === 0 || !drawn.table.slice(1).some((column) => column.some((value) => value != null));
}

function draw(figure, data) {
  const kind = figure.dataset.chart;
  const canvas = figure.querySelector(".plot");
  plots.get(kind)?.destroy();
  plots.delete(kind);
  const drawn = KINDS[kind](data, tools);
  if (!isEmpty(drawn)) plots.set(kind, new uPlot(optionsOf(drawn, data, canvas.clientWidth), drawn.table, canvas));
  figure.querySelector("[data-text]").textContent = TEXTS[kind](data, words);
  figure.toggleAttribute("data-drawn", true);
  write(figure, TABLES[kind](data, words));
}

function cell(kind, value) {
  const made = document.createElement(kind);
  made.textContent = value;
  return made;
}

function write(figure, [head, ...rows]) {
  const table = figure.querySelector(".chart-table table");
  const first = document.createElement("tr");
  first.append(...head.map((each) => Object.assign(cell("th", each), { scope: "col" })));
  const thead = document.createElement("thead");
  thead.append(first);
  const tbody = document.createElement("tbody");
  for (const [time, ...values] of rows) {
    const row = document.createElement("tr");
    row.append(Object.assign(cell("th", whole.format(time * 1000)), { scope: "row" }), ...values.map((each) => cell("td", each)));
    tbody.append(row);
  }
  table.replaceChildren(thead, tbody);
}

async function read(source) {
  const asking = new URLSearchParams(server ? { range, server } : { range });
  const answer = await fetch(`/api/mcp/charts/${source}?${asking}`, { headers: { "X-Mcpyard-Key": window.yardKey } });
  if (!answer.ok) throw new Error(answer.status);
  return answer.json();
}

let last = {};
function drawAll() {
  for (const figure of figures) {
    const data = last[SOURCES[figure.dataset.chart]];
    if (data) draw(figure, data);
  }
}

// An answer to an earlier question than the last one is of another range.
async function refresh() {
  const number = ++asked;
  const sources = [...new Set(figures.map((each) => SOURCES[each.dataset.chart]))];
  const answers = await Promise.all(sources.map(read)).catch(() => null);
  if (!answers || number !== asked) return;
  last = Object.fromEntries(sources.map((each, at) => [each, answers[at]]));
  drawAll();
}

place.addEventListener("change", ({ target }) => {
  if (target.name !== "chart-range") return;
  range = target.value;
  refresh();
});

setInterval(() => {
  const open = place.querySelector(".chart-table[open]:hover");
  if (!document.hidden && !open) refresh();
}, AGAIN);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
new ResizeObserver(() => {
  for (const [kind, plot] of plots) {
    const width = figures.find((each) => each.dataset.chart === kind).querySelector(".plot").clientWidth;
    if (Math.abs(plot.width - width) > 4) plot.setSize({ width, height: HEIGHT });
  }
}).observe(place);
refresh();
