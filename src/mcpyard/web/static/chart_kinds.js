// How each kind of chart is drawn from the numbers that the API gives; colours are those of the page.
const MEGABYTE = 1 << 20;

function groupOf(outcome, words) {
  return outcome in words.outcomes ? outcome : "other";
}

export function stepsOf(data) {
  const count = Math.round((data.until - data.since) / data.step);
  return Array.from({ length: count }, (_, at) => data.since + (at + 0.5) * data.step);
}

// Calls a minute by what became of them: every problem of mcpyard's own counts as one outcome.
export function ratesOf(data, words) {
  const rates = Object.fromEntries(Object.keys(words.outcomes).map((each) => [each, stepsOf(data).map(() => 0)]));
  for (const [outcome, counts] of Object.entries(data.calls)) {
    const rate = rates[groupOf(outcome, words)];
    counts.forEach((count, at) => (rate[at] += (count * 60) / data.step));
  }
  return Object.entries(rates).filter(([, rate]) => rate.some(Boolean));
}

function rounded(value, unit = "") {
  if (value == null) return "–";
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(2))}${unit}`;
}

function duration(ms) {
  if (ms == null) return "–";
  return ms >= 1000 ? `${Number((ms / 1000).toPrecision(3))} s` : `${Number(ms.toPrecision(3))} ms`;
}

// A stack is drawn from its top down, so that what is below covers what is above.
function calls(data, { words, colour }) {
  const rates = ratesOf(data, words);
  const tops = rates.map((_, at) => stepsOf(data).map((_, step) => rates.slice(0, at + 1).reduce((sum, [, rate]) => sum + rate[step], 0)));
  const paths = uPlot.paths.bars({ size: [0.9, 60], align: 0 });
  const series = rates.map(([outcome, rate]) => ({
    label: words.outcomes[outcome].text,
    fill: colour(words.outcomes[outcome].tone),
    width: 0,
    points: { show: false },
    paths,
    value: (_, __, ___, at) => rounded(at == null ? null : rate[at]),
  }));
  return { table: [stepsOf(data), ...tops.reverse()], series: series.reverse(), y: { range: (_, __, high) => [0, Math.max(1, high * 1.1)] } };
}

function scatter(data, { words, colour }) {
  const tables = [[stepsOf(data), data.latency.p50, data.latency.p95]];
  const series = [line(words.median, colour("ink")), line(words.p95, colour("ink"), [6, 4])];
  const groups = new Map();
  data.points.outcome.forEach((outcome, at) => {
    const key = groupOf(outcome, words);
    if (!groups.has(key)) groups.set(key, [[], []]);
    const [times, values] = groups.get(key);
    // A moment has one point in a table; two calls of one millisecond stand beside each other.
    times.push(Math.max(data.points.at[at], (times.at(-1) ?? 0) + 1e-4));
    values.push(Math.max(data.points.ms[at], 0.01));
  });
  for (const [key, table] of groups) {
    const { text, tone } = words.outcomes[key];
    tables.push(table);
    series.push({ label: text, stroke: colour(tone), paths: () => null, points: { show: true, size: key === "ok" ? 4 : 8, fill: key === "ok" ? colour(tone) : colour("sheet"), width: 1.5 }, value: (_, ms) => duration(ms) });
  }
  return { table: uPlot.join(tables), series };
}

function bands(data, { words, colour, faint }) {
  const { p05, p25, p50, p75, p95 } = data.latency;
  const edge = (label, value) => ({ label, stroke: faint("accent", 0.35), width: 1, points: { show: false }, value: (_, ms) => duration(ms), ...value });
  const series = [edge("p95"), edge("p05"), edge("p75"), edge("p25"), { ...line(words.median, colour("accent")), points: { show: false } }];
  const filled = [
    { series: [1, 2], fill: faint("accent", 0.12) },
    { series: [3, 4], fill: faint("accent", 0.25) },
  ];
  return { table: [stepsOf(data), p95, p05, p75, p25, p50], series, bands: filled };
}

function latency(data, tools) {
  const drawn = data.points ? scatter(data, tools) : bands(data, tools);
  return { ...drawn, y: { distr: 3, log: 10 }, unit: duration };
}

function line(label, stroke, dash) {
  return { label, stroke, dash, width: 2, spanGaps: false, points: { show: true, size: 5, fill: stroke }, value: (_, value) => duration(value) };
}

function area(values, label, tools, unit) {
  const stroke = tools.colour("accent");
  return { series: [{ label, stroke, fill: tools.faint("accent", 0.18), width: 1.5, value: (_, value) => unit(value) }], values, unit };
}

function memory(data, tools) {
  const { series, unit } = area(null, tools.words.memory, tools, (value) => rounded(value, " MB"));
  const table = [stepsOf(data), data.rss.map((each) => (each == null ? null : each / MEGABYTE))];
  return { table, series, unit, y: { range: (_, __, high) => [0, Math.max(1, high * 1.15)] } };
}

function cpu(data, tools) {
  const { series, unit } = area(null, tools.words.cpu, tools, (value) => rounded(value, " %"));
  return { table: [stepsOf(data), data.cpu], series, unit, y: { range: (_, __, high) => [0, Math.max(1, high * 1.15)] } };
}

export const KINDS = { calls, latency, memory, cpu };

// The same as text: a sentence, and the rows of a table.
export const TEXTS = {
  calls: (data, words) => (data.total ? fill(words.summary, { calls: data.total, most: rounded(mostOf(data)) }) : words.none),
  latency: (data, words) => {
    if (!data.total) return words.none;
    const middle = fill(words.middle, { p50: duration(data.overall.p50), p95: duration(data.overall.p95) });
    return data.points?.every > 1 ? `${middle} ${fill(words.sampled, { n: data.points.every })}` : middle;
  },
  memory: (data, words) => usage(data.rss.map((each) => each && each / MEGABYTE), " MB", words),
  cpu: (data, words) => usage(data.cpu, " %", words),
};

export const TABLES = {
  calls: (data, words) => {
    const rates = ratesOf(data, words);
    return [[words.time, ...rates.map(([outcome]) => words.outcomes[outcome].text)], ...rowsOf(data, rates.map(([, rate]) => rate.map((each) => rounded(each))))];
  },
  latency: (data, words) => [[words.time, words.median, words.p95], ...rowsOf(data, [data.latency.p50.map(duration), data.latency.p95.map(duration)])],
  memory: (data, words) => [[words.time, words.memory], ...rowsOf(data, [data.rss.map((each) => rounded(each == null ? null : each / MEGABYTE, " MB"))])],
  cpu: (data, words) => [[words.time, words.cpu], ...rowsOf(data, [data.cpu.map((each) => rounded(each, " %"))])],
};

function mostOf(data) {
  const counts = Object.values(data.calls);
  return Math.max(...stepsOf(data).map((_, at) => counts.reduce((sum, each) => sum + each[at], 0))) * (60 / data.step);
}

function usage(values, unit, words) {
  const present = values.filter((each) => each != null);
  if (!present.length) return words.used;
  return fill(words.most, { most: rounded(Math.max(...present), unit), last: rounded(present.at(-1), unit) });
}

function rowsOf(data, columns) {
  return stepsOf(data)
    .map((time, at) => [time - data.step / 2, ...columns.map((each) => each[at])])
    .filter(([, ...values]) => values.some((each) => each !== "–" && each !== "0"))
    .reverse();
}

function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}
