import "./dialogs.js";
import "./keyboard.js";
import "./lost.js";
import "./palette.js";
import { applyFilter } from "./filter.js";
import { tick } from "./clock.js";

for (const choice of document.querySelectorAll("[data-cookie]")) {
  choice.addEventListener("change", () => {
    const yearly = "path=/; max-age=31536000; samesite=strict";
    document.cookie = `${choice.dataset.cookie}=${choice.value}; ${yearly}`;
    location.reload();
  });
}

document.addEventListener("htmx:after:swap", () => {
  tick();
  applyFilter();
});
setInterval(tick, 500);
tick();
