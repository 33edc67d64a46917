// A server dragged onto another program: the same dialog as its button opens, filled in.
const KIND = "application/x-mcpyard-server";

function place(event) {
  return event.dataTransfer.types.includes(KIND) ? event.target.closest("[data-drop]") : null;
}

function mark(found) {
  for (const each of document.querySelectorAll("[data-over]")) {
    if (each !== found) each.removeAttribute("data-over");
  }
  found?.setAttribute("data-over", "");
}

document.addEventListener("dragstart", (event) => {
  const entry = event.target.closest?.("[data-from]");
  if (!entry) return;
  event.dataTransfer.effectAllowed = "copy";
  event.dataTransfer.setData(KIND, JSON.stringify({ from: entry.dataset.from, name: entry.dataset.name }));
  document.body.setAttribute("data-dragging", entry.dataset.from);
});

document.addEventListener("dragover", (event) => {
  const found = place(event);
  mark(found);
  if (!found) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "copy";
});

document.addEventListener("drop", (event) => {
  const found = place(event);
  if (!found) return;
  event.preventDefault();
  const asked = new URLSearchParams({ ...JSON.parse(event.dataTransfer.getData(KIND)), to: found.dataset.drop });
  if (asked.get("from") !== asked.get("to")) {
    htmx.ajax("GET", `/ui/clients/copy?${asked}`, { target: "#dialog-body", swap: "innerHTML" });
  }
});

document.addEventListener("dragend", () => {
  mark(null);
  document.body.removeAttribute("data-dragging");
});

document.addEventListener("keydown", (event) => {
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  const idle = document.documentElement.dataset.keys !== "off" && !event.target.matches("input, textarea, select") && !document.querySelector("dialog[open]");
  if (event.key === "c" && plain && idle) document.activeElement.closest(".entry")?.querySelector("[data-act=copy]").click();
});
