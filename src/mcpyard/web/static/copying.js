// Puts a text of the page on the clipboard, and says so where the button was pressed.
document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(document.querySelector(button.dataset.copy).textContent);
  const words = button.querySelector("[data-done]");
  words.textContent = words.dataset.done;
  button.setAttribute("data-copied", "");
});
