// A yard that does not answer: no badge goes on claiming what nobody knows any more, and whoever asks
// for something is told that it was not heard.
const BY_ITSELF = "#stream, [hx-trigger*='every']";
const known = new Map();

function made(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}

function darken(badge) {
  const unknown = made("unknown");
  known.set(badge, [badge.className, [...badge.childNodes]]);
  badge.className = `${unknown.className} unknown`;
  badge.replaceChildren(...unknown.childNodes);
}

// News may have come before: a badge that shows it has lost the mark.
function relight([badge, [className, parts]]) {
  if (!badge.classList.contains("unknown")) return;
  badge.className = className;
  badge.replaceChildren(...parts);
}

document.addEventListener("yardlost", () => {
  document.getElementById("lost").hidden = false;
  document.querySelectorAll("main .status-badge").forEach(darken);
});

document.addEventListener("yardback", () => {
  document.getElementById("lost").hidden = true;
  [...known].forEach(relight);
  known.clear();
  document.querySelectorAll("[data-failure]").forEach((each) => each.remove());
});

// A dialog covers the corner of the notices.
function tell(notice) {
  const place = document.querySelector("#dialog[open] > #dialog-body") ?? document.getElementById("notices");
  place.querySelectorAll("[data-failure]").forEach((each) => each.remove());
  notice.setAttribute("data-failure", "");
  place.append(notice);
}

document.addEventListener("htmx:error", ({ target, detail }) => {
  const unanswered = detail.ctx && !detail.ctx.response && detail.error?.name !== "AbortError";
  if (unanswered && !target.matches(BY_ITSELF)) tell(made("unanswered"));
});

document.addEventListener("htmx:response:error", ({ target, detail }) => {
  const { status, headers } = detail.ctx.response;
  const untold = status === 401 || status === 403 || status >= 500;
  if (!untold || target.matches(BY_ITSELF)) return;
  tell(headers.has("HX-Retarget") ? sent(detail.ctx.text) : refusal(status));
});

// What the yard has to say itself of why it failed.
function sent(text) {
  const box = document.createElement("template");
  box.innerHTML = text;
  return box.content.querySelector(".notice") ?? refusal("");
}

function refusal(status) {
  const notice = made("failed");
  const words = notice.querySelector("p");
  const keyless = status === 403 && !window.yardKey;
  words.textContent = keyless ? document.getElementById("live").dataset.key : words.textContent.replace("{status}", status);
  return notice;
}
