// The form of a tool's arguments: reads the fields back into JSON, or lets the JSON be typed.
const READ = {
  object(node) {
    const found = {};
    for (const child of node.querySelectorAll(":scope > .fields > .node")) {
      const value = read(child);
      if (value !== undefined) found[child.dataset.key] = value;
    }
    return Object.keys(found).length || isNeeded(node) ? found : undefined;
  },
  array(node) {
    const items = [...node.querySelectorAll(":scope > [data-rows] > .item > .node")].map(read);
    const given = items.filter((each) => each !== undefined);
    return given.length || isNeeded(node) ? given : undefined;
  },
  choice(node) {
    const [chosen] = childrenOf(node);
    return chosen ? read(chosen) : undefined;
  },
  text: (node, value) => (value || isItem(node) ? value : undefined),
  long: (node, value) => (value || isItem(node) ? value : undefined),
  json: (_, value) => (value.trim() ? JSON.parse(value) : undefined),
};

function isItem(node) {
  return node.parentElement.classList.contains("item");
}

function isNeeded(node) {
  return node.hasAttribute("data-required") || isItem(node);
}

function wayOf(node) {
  return node.querySelector(":scope > select").value;
}

function childrenOf(node) {
  if (node.dataset.kind === "object") return [...node.querySelectorAll(":scope > .fields > .node")];
  if (node.dataset.kind === "array") return [...node.querySelectorAll(":scope > [data-rows] > .item > .node")];
  return [...node.querySelectorAll(`:scope > .way[data-index="${wayOf(node)}"] > .node`)];
}

// What lacks in an object that is left out as a whole is not missed.
function missingIn(node) {
  const field = node.querySelector(":scope > [data-value]");
  if (field) return node.hasAttribute("data-required") && !field.value.trim() ? [field] : [];
  return isNeeded(node) || safely(() => read(node), null) !== undefined ? childrenOf(node).flatMap(missingIn) : [];
}

function plain(_, value) {
  if (value === "") return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function read(node) {
  const field = node.querySelector(":scope > [data-value]");
  return (READ[node.dataset.kind] ?? plain)(node, field?.value ?? "");
}

function argumentsOf(form) {
  return JSON.stringify(read(form.querySelector(".form-side > .node")) ?? {}, null, 2);
}

function showRaw(form, raw) {
  form.querySelector(".raw-side").hidden = !raw;
  form.querySelector(".form-side").hidden = raw;
  form.querySelector("[data-raw]").checked = raw;
}

document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-raw]")) {
    const form = target.form;
    if (target.checked) form.elements.arguments.value = safely(() => argumentsOf(form), "{}");
    showRaw(form, target.checked);
  }
  if (target.matches("[data-way]")) {
    for (const way of target.parentElement.querySelectorAll(":scope > .way")) {
      way.hidden = way.dataset.index !== target.value;
    }
  }
});

function safely(make, otherwise) {
  try {
    return make();
  } catch {
    return otherwise;
  }
}

function isRaw(form) {
  return form.querySelector("[data-raw]")?.checked ?? false;
}

document.addEventListener("htmx:config:request", ({ target, detail }) => {
  if (!target.matches("form.try") || isRaw(target)) return;
  const broken = [...target.querySelectorAll("[data-kind=json] > [data-value]")];
  detail.ctx.request.body.set("arguments", safely(() => argumentsOf(target), broken.map((each) => each.value).join()));
});

document.addEventListener("htmx:after:swap", () => {
  for (const line of document.querySelectorAll("template.sent-line")) {
    line.closest(".result")?.nextElementSibling?.prepend(line.content.cloneNode(true));
    line.remove();
  }
});

function complain(form, field) {
  const words = document.createElement("span");
  words.className = "problem";
  words.textContent = form.dataset.missing;
  field.setAttribute("aria-invalid", "true");
  field.after(words);
}

function withdraw(field) {
  field.removeAttribute("aria-invalid");
  field.parentElement.querySelector(":scope > .problem")?.remove();
}

// Heard on the way down, before htmx sends the form.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form.try") || isRaw(form) || event.submitter?.matches("[data-unread]")) return;
  form.querySelectorAll("[aria-invalid]").forEach(withdraw);
  const missing = missingIn(form.querySelector(".form-side > .node"));
  if (!missing.length) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  missing.forEach((field) => complain(form, field));
  missing[0].focus();
}, true);

document.addEventListener("input", ({ target }) => {
  if (target.matches("form.try [aria-invalid]")) withdraw(target);
});

const head = document.querySelector(".head");
let tools = head?.dataset.tools;

// Somebody who is at a tool is not to lose it; the list is read anew when none is open.
document.addEventListener("htmx:after:swap", () => {
  if (!head || head.dataset.tools === tools || document.querySelector(".tool details[open]")) return;
  tools = head.dataset.tools;
  const ref = encodeURIComponent(head.id.replace("head-", ""));
  htmx.ajax("GET", `/ui/tools?ref=${ref}`, { target: "#tools", swap: "innerHTML" });
});

// A tool runs once at a time: no second click makes a second call.
const sending = new WeakSet();

function hold(button) {
  const running = sending.has(button.form) || button.form.parentElement.querySelector(":scope > .result [data-run]");
  if (running && document.activeElement === button) button.dataset.focused = "";
  button.disabled = Boolean(running);
  if (!running && "focused" in button.dataset) {
    delete button.dataset.focused;
    if (document.activeElement === document.body) button.focus();
  }
}

function holdAll() {
  document.querySelectorAll("[data-run-button]").forEach(hold);
}

document.addEventListener("htmx:before:request", ({ target }) => {
  if (target.matches("form.try")) sending.add(target);
  holdAll();
});
document.addEventListener("htmx:finally:request", ({ target }) => {
  sending.delete(target);
  holdAll();
});
document.addEventListener("htmx:after:swap", holdAll);

document.addEventListener("click", ({ target }) => {
  const again = target.closest("[data-resend]");
  if (!again) return;
  const form = again.closest(".tool-body").querySelector("form.try");
  if (form.querySelector("[data-run-button]").disabled) return;
  showRaw(form, true);
  form.elements.arguments.value = again.dataset.resend;
  form.requestSubmit();
});
