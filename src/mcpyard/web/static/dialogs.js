// Dialogs and their forms: opened when their content has come, closed by it, by Escape or by Cancel.
const dialog = document.getElementById("dialog");
const NOTICE_SECONDS = 8;

function close(element) {
  element.closest("dialog")?.close();
}

function dismissLater(notice) {
  if (notice.dataset.leaving) return;
  notice.dataset.leaving = "soon";
  const seconds = notice.matches(".bad, :has(button)") ? 3 * NOTICE_SECONDS : NOTICE_SECONDS;
  setTimeout(() => notice.remove(), seconds * 1000);
}

document.addEventListener("htmx:after:swap", () => {
  const body = document.getElementById("dialog-body");
  if (body?.querySelector("[data-close]")) {
    body.replaceChildren();
    dialog.close();
  } else if (body?.childElementCount && !dialog.open) {
    dialog.showModal();
  }
  for (const link of document.querySelectorAll("#notices [data-open]")) {
    link.removeAttribute("data-open");
    window.open(link.href, "_blank", "noopener,noreferrer");
  }
  document.querySelectorAll("#notices > .notice").forEach(dismissLater);
});

dialog?.addEventListener("close", () => document.getElementById("dialog-body").replaceChildren());

function addRow(button) {
  const group = button.closest(".rows");
  const made = group.querySelector("template").content.cloneNode(true);
  const rows = group.querySelector("[data-rows]");
  rows.append(made);
  rows.lastElementChild.querySelector("input, select, textarea")?.focus();
  htmx.process(rows.lastElementChild);
  button.dispatchEvent(new Event("rows", { bubbles: true }));
}

function removeRow(button) {
  const rows = button.closest("[data-rows]");
  const next = button.closest(".rows").querySelector("[data-add-row]");
  button.closest("[data-rows] > *").remove();
  next.focus();
  rows.dispatchEvent(new Event("rows", { bubbles: true }));
}

function reveal(button) {
  const field = button.closest(".row").querySelector("[type=password], [data-revealed]");
  const showing = field.type === "text";
  field.type = showing ? "password" : "text";
  field.toggleAttribute("data-revealed", !showing);
  button.setAttribute("aria-pressed", String(!showing));
}

const ACTIONS = {
  "[data-close-dialog]": close,
  "[data-add-row]": addRow,
  "[data-remove-row]": removeRow,
  "[data-reveal]": reveal,
};

document.addEventListener("click", ({ target }) => {
  for (const [selector, act] of Object.entries(ACTIONS)) {
    const found = target.closest(selector);
    if (found) act(found);
  }
});

document.addEventListener("input", ({ target }) => {
  const list = target.dataset.filters && document.querySelector(target.dataset.filters);
  if (!list) return;
  const word = target.value.trim().toLowerCase();
  for (const item of list.children) {
    item.toggleAttribute("data-out", word !== "" && !item.textContent.toLowerCase().includes(word));
  }
});
