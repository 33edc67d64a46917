// Calls: the address says what is looked for, and a call is sent again from the form of its tool.
import "./tryit.js";
import "./copying.js";

const MASKED = "***";
const filters = document.getElementById("filters");

function chosen() {
  return new URLSearchParams([...new FormData(filters)].filter(([, value]) => value));
}

filters?.addEventListener("input", () => {
  const query = chosen().toString();
  history.replaceState(null, "", query ? `/activity?${query}` : "/activity");
});

// A heading may be pressed before the list for the newest filters has come.
document.addEventListener("click", ({ target }) => {
  const link = target.closest("a.sort");
  if (!link || !filters) return;
  const order = new URL(link.href).searchParams;
  const query = chosen();
  for (const name of ["sort", "order"]) {
    query.delete(name);
    if (order.has(name)) query.set(name, order.get(name));
  }
  link.href = `/activity?${query}`;
});

// What the fields of a form cannot show is edited as JSON.
document.addEventListener("htmx:after:swap", () => {
  const body = document.querySelector("#resend .tool-body[data-begin]");
  if (!body) return;
  const box = body.querySelector("[data-raw]");
  box.checked = true;
  box.dispatchEvent(new Event("change", { bubbles: true }));
  box.form.elements.arguments.value = body.dataset.begin;
  body.removeAttribute("data-begin");
});

function holdsMasked(form) {
  const fields = form.querySelector("[data-raw]").checked
    ? [form.elements.arguments]
    : [...form.querySelectorAll("[data-value]")];
  return fields.find((field) => field.value.includes(MASKED));
}

// Heard on the way down, before htmx sends the form.
document.addEventListener("submit", (event) => {
  const form = event.target;
  const body = form.closest("#resend .tool-body");
  if (!body || !form.matches("form.try")) return;
  const masked = body.dataset.masked && holdsMasked(form);
  masked?.setCustomValidity(body.dataset.masked);
  masked?.reportValidity();
  if (!masked && (!body.dataset.confirm || confirm(body.dataset.confirm))) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

document.addEventListener("input", ({ target }) => target.setCustomValidity?.(""));
