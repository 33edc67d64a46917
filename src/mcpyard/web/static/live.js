// How the page stays true. The stream and the regular question carry the same news; both name the
// last moment that was seen, so that neither repeats what the other brought.
// Runs before htmx, so that it hears of the stream's very first connection.
(() => {
  // mcpyard is back after a restart within this time; nobody is to see the badges flicker.
  const GRACE = 2000;
  const badge = document.getElementById("live");
  const question = document.getElementById("news");
  const stream = document.getElementById("stream");
  const states = { stream: false, lost: false, unanswered: false };
  let doubt = 0;

  function stateNow() {
    if (states.lost) return "off";
    if (!window.yardKey) return "key";
    return states.stream ? "live" : "poll";
  }

  function show() {
    const state = stateNow();
    if (badge.dataset.state === state) return;
    badge.dataset.state = state;
    badge.querySelector(".word").textContent = badge.dataset[state];
  }

  function become(lost) {
    if (states.lost === lost) return;
    states.lost = lost;
    document.documentElement.toggleAttribute("data-lost", lost);
    document.dispatchEvent(new Event(lost ? "yardlost" : "yardback"));
  }

  function heard() {
    clearTimeout(doubt);
    doubt = 0;
    become(false);
    show();
  }

  // Asked at once: the regular question alone would leave the badges as they are for seconds.
  function missed() {
    if (!doubt && !states.lost) {
      doubt = setTimeout(() => {
        doubt = 0;
        become(true);
        show();
      }, GRACE);
      question.dispatchEvent(new Event("again"));
    }
    show();
  }

  function isStream(event) {
    return event.target === stream;
  }

  // A stream that stood once is taken up again by htmx; one that never began, only from here.
  function beginAgain() {
    if (!states.unanswered) return;
    states.unanswered = false;
    stream.dispatchEvent(new Event("again"));
  }

  document.addEventListener("htmx:config:request", ({ target, detail }) => {
    if (target === question) detail.ctx.request.headers["If-None-Match"] = `"${question.dataset.tag}"`;
  });

  document.addEventListener("htmx:after:request", ({ target, detail }) => {
    if (target === stream) states.unanswered = detail.ctx.response.status >= 429;
    if (target !== question) return;
    const { status, headers } = detail.ctx.response;
    if (status === 401) location.reload();
    if (status === 200) question.dataset.tag = headers.get("ETag").replaceAll('"', "");
    if (status < 400) beginAgain();
    if (status < 400 || states.stream) heard();
    else missed();
  });

  document.addEventListener("htmx:error", ({ target }) => {
    if (target === stream) states.unanswered = true;
    if (target === question || target === stream) missed();
  });

  document.addEventListener("htmx:sse:after:connection", (event) => {
    if (!isStream(event)) return;
    states.stream = event.detail.connection.status === 200;
    if (states.stream) heard();
    show();
  });

  for (const name of ["htmx:sse:error", "htmx:sse:close", "htmx:sse:before:connection"]) {
    document.addEventListener(name, (event) => {
      if (!isStream(event)) return;
      const stood = states.stream;
      states.stream = false;
      if (stood || name === "htmx:sse:error") missed();
      show();
    });
  }

  document.addEventListener("htmx:sse:before:message", (event) => {
    if (isStream(event) && event.detail.message.id) question.dataset.tag = event.detail.message.id;
  });

  badge.hidden = !question;
  show();
})();
