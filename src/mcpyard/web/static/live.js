// How the page stays true. The stream and the regular question carry the same news; both name the
// last moment that was seen, so that neither repeats what the other brought.
// Runs before htmx, so that it hears of the stream's very first connection.
(() => {
  const lamp = document.getElementById("live");
  const question = document.getElementById("news");
  const stream = document.getElementById("stream");
  const states = { stream: false, poll: true, unanswered: false };

  function show() {
    const state = !window.yardKey ? "key" : states.stream ? "live" : states.poll ? "poll" : "off";
    if (lamp.dataset.state === state) return;
    lamp.dataset.state = state;
    lamp.querySelector(".word").textContent = lamp.dataset[state];
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
    states.poll = status < 400;
    if (status === 200) question.dataset.tag = headers.get("ETag").replaceAll('"', "");
    if (states.poll) beginAgain();
    show();
  });

  document.addEventListener("htmx:error", ({ target }) => {
    if (target === question) states.poll = false;
    if (target === stream) states.unanswered = true;
    show();
  });

  document.addEventListener("htmx:sse:after:connection", (event) => {
    if (!isStream(event)) return;
    states.stream = event.detail.connection.status === 200;
    states.poll = true;
    show();
  });

  for (const name of ["htmx:sse:error", "htmx:sse:close", "htmx:sse:before:connection"]) {
    document.addEventListener(name, (event) => {
      if (!isStream(event)) return;
      states.stream = false;
      show();
    });
  }

  document.addEventListener("htmx:sse:before:message", (event) => {
    if (isStream(event) && event.detail.message.id) question.dataset.tag = event.detail.message.id;
  });

  lamp.hidden = !question;
  show();
})();
