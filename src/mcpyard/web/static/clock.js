// Times that go on by themselves: how long something runs, and how long until the next try.
const SIZES = [86400, 3600, 60, 1];
const UNITS = document.documentElement.dataset.units.split(" ").map((name, at) => [SIZES[at], name]);

function span(seconds) {
  const at = UNITS.findIndex(([size]) => seconds >= size);
  if (at < 0) return `0 ${UNITS.at(-1)[1]}`;
  const [size, unit] = UNITS[at];
  const first = `${Math.floor(seconds / size)} ${unit}`;
  const next = UNITS[at + 1];
  const rest = next && size > 60 ? Math.floor((seconds % size) / next[0]) : 0;
  return rest ? `${first} ${rest} ${next[1]}` : first;
}

function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function tick() {
  const now = Date.now();
  for (const each of document.querySelectorAll("[data-since]")) {
    const passed = Math.max(0, (now - Date.parse(each.dataset.since)) / 1000);
    say(each, each.dataset.words.replace("{n}", span(passed)));
  }
  for (const each of document.querySelectorAll("[data-until]")) {
    const left = Math.ceil((Date.parse(each.dataset.until) - now) / 1000);
    say(each, left > 0 ? each.dataset.words.replace("{n}", left) : each.dataset.now);
  }
  for (const each of document.querySelectorAll("time[data-at]")) {
    say(each, new Date(each.dateTime).toLocaleString(document.documentElement.lang));
  }
}
