// Runs before htmx, so that no request of the page leaves without the session's key. The key comes
// in the fragment of the address, which no server is ever sent, and stays in this origin's storage.
(() => {
  const NAME = "mcpyard-key";
  const given = /^#key=([\w-]+)$/.exec(location.hash);
  if (given) {
    localStorage.setItem(NAME, given[1]);
    history.replaceState(null, "", location.pathname + location.search);
  }
  const key = localStorage.getItem(NAME) ?? "";
  document.addEventListener("htmx:config:request", (event) => {
    event.detail.ctx.request.headers["X-Mcpyard-Key"] = key;
  });
  window.yardKey = key;
})();
