// Puts a text of the page on the clipboard, and says so where the button was pressed.
document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copy]");
  if (!button) return;
  const named = button.dataset.copy && document.querySelector(button.dataset.copy);
  const source = named || button.closest("[data-copied-from]").querySelector("[data-copy-source]");
  await navigator.clipboard.writeText(source.textContent);
  const words = button.querySelector("[data-done]");
  words.textContent = words.dataset.done;
  button.setAttribute("data-copied", "");
});
