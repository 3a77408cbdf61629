// Enhancements of pages that also work without scripts: copy buttons, the key that goes
// to the search, and a theme that applies at once. Nothing here turns text into HTML.
"use strict";
(() => {
  for (const hidden of document.querySelectorAll("[data-copy][hidden], [data-script][hidden]")) hidden.hidden = false;

  async function copy(button) {
    const from = document.getElementById(button.dataset.copy), word = button.firstChild;
    try {
      await navigator.clipboard.writeText(from.textContent);
      word.data = "Copied";
      setTimeout(() => { word.data = "Copy"; }, 2000);
    } catch {
      getSelection().selectAllChildren(from); // for Ctrl+C
    }
  }

  document.addEventListener("click", (e) => {
    const button = e.target.closest("[data-copy]");
    if (button) copy(button);
  });

  document.addEventListener("keydown", (e) => {
    if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea")) return;
    e.preventDefault();
    document.querySelector("[data-find]").select();
  });

  document.addEventListener("change", (e) => {
    const form = e.target.closest("form[data-theme-form]");
    if (form) form.requestSubmit();
  });
})();
