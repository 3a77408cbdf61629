// Enhancements for pages that also work without scripts: copy buttons, dialogs,
// upload progress, and codes from e-mail links. Nothing here turns text into HTML.
"use strict";
(() => {
  const root = document, narrow = matchMedia("(max-width: 820px)");

  root.querySelector(".menu-wide [aria-current]")?.scrollIntoView({ block: "nearest" });

  // enhance prepares the page, or a part of it that was just inserted.
  function enhance(part) {
    for (const hidden of part.querySelectorAll("[data-copy][hidden], [data-dismiss][hidden]")) hidden.hidden = false;
    const wrong = part.querySelector("[data-focus]");
    if (wrong) wrong.focus();
    takeToken(part);
    for (const frame of part.querySelectorAll("[data-chart]")) readable(frame);
    foldIn(part);
    for (const box of part.querySelectorAll("[data-all][hidden]")) box.hidden = false;
  }

  // foldIn folds what would fill the first screen of a phone. A wide page has no button to
  // unfold it again.
  function foldIn(part) {
    for (const fold of part.querySelectorAll("[data-fold]")) fold.open = !narrow.matches || isSet(fold);
  }
  narrow.addEventListener("change", () => foldIn(root));

  // isSet reports whether one of the fields in a part has a value that somebody chose.
  function isSet(part) {
    return [...part.querySelectorAll("input:not([type=hidden]), select")].some((field) => field.value !== "" || field.getAttribute("aria-invalid"));
  }

  // readable lets a reader move over the days of a chart, with a pointer or the arrow
  // keys, and writes the values of the day below it. They are in the table of the chart.
  function readable(frame) {
    const figure = frame.closest("figure"), svg = frame.querySelector("svg"), place = figure.querySelector("[data-reading]");
    const rows = [...figure.querySelectorAll("tbody tr")], names = [...figure.querySelectorAll("thead th")].slice(1).map((th) => th.textContent);
    if (rows.length === 0) return;
    const hint = place.textContent, wide = svg.viewBox.baseVal.width / rows.length;
    const cursor = root.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of [["class", "chart-cursor"], ["y", "0"], ["height", "100%"], ["width", wide], ["visibility", "hidden"]]) cursor.setAttribute(name, value);
    svg.prepend(cursor);
    let at = -1;
    const show = (i, read) => {
      at = i;
      cursor.setAttribute("visibility", i < 0 ? "hidden" : "visible");
      if (i < 0) { place.textContent = hint; return; }
      cursor.setAttribute("x", i * wide);
      const cells = [...rows[i].children].map((cell) => cell.textContent);
      const parts = names.map((name, n) => name + " " + cells[n + 1]).filter((_, n) => cells[n + 1] !== "0");
      place.textContent = cells[0] + ": " + (parts.join(", ") || "0");
      if (read) announce(place.textContent);
    };
    svg.tabIndex = 0;
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      show(Math.min(rows.length - 1, Math.max(0, Math.floor((event.clientX - box.left) / box.width * rows.length))));
    });
    svg.addEventListener("pointerleave", () => show(-1));
    svg.addEventListener("blur", () => show(-1));
    svg.addEventListener("keydown", (event) => {
      const to = { ArrowRight: at + 1, ArrowLeft: at < 0 ? rows.length - 1 : at - 1, Home: 0, End: rows.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      show(Math.min(rows.length - 1, Math.max(0, to)), true);
    });
  }

  // A link in an e-mail has its code after the #, which browsers never send to a
  // server. takeToken moves the code into the form and out of the address.
  function takeToken(part) {
    const field = part.querySelector("input[data-token]");
    if (!field || location.hash.length < 2) return;
    field.value = decodeURIComponent(location.hash.slice(1));
    history.replaceState(null, "", location.pathname + location.search);
    const typed = field.closest(".field");
    if (typed) typed.hidden = true;
    const next = field.form.querySelector("input:not([type=hidden]):not([data-token]), button");
    if (next) next.focus();
  }

  async function copy(button) {
    const text = root.getElementById(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const range = root.createRange();
      range.selectNodeContents(root.getElementById(button.dataset.copy));
      const chosen = getSelection();
      chosen.removeAllRanges();
      chosen.addRange(range);
      announce("Press Ctrl+C to copy the selected text.");
      return;
    }
    const first = button.firstChild, was = first.data;
    first.data = "Copied";
    announce("Copied.");
    setTimeout(() => { first.data = was; }, 2000);
  }

  // announce makes screen readers read a text.
  function announce(text) {
    let place = root.getElementById("announcement");
    if (!place) {
      place = root.createElement("div");
      place.id = "announcement";
      place.className = "visually-hidden";
      place.setAttribute("role", "status");
      root.body.append(place);
    }
    place.textContent = text;
  }

  // renameIDs puts a prefix before each id in a form and in what refers to it, so that the
  // form can stand on a page that has fields of the same names.
  function renameIDs(form, prefix) {
    for (const at of form.querySelectorAll("[id]")) at.id = prefix + at.id;
    for (const name of ["for", "aria-describedby", "aria-labelledby", "data-copy"]) {
      for (const at of form.querySelectorAll("[" + name + "]")) {
        at.setAttribute(name, at.getAttribute(name).split(/\s+/).filter(Boolean).map((id) => prefix + id).join(" "));
      }
    }
  }

  // openDialog shows the confirmation form of another page in a dialog.
  async function openDialog(link) {
    let page;
    try {
      const response = await fetch(link.href, { credentials: "same-origin" });
      if (!response.ok || response.redirected) throw new Error();
      page = new DOMParser().parseFromString(await response.text(), "text/html");
    } catch {
      location.assign(link.href);
      return;
    }
    const form = page.querySelector("form[data-confirm]"), title = page.querySelector("h1");
    if (!form || !title) {
      location.assign(link.href);
      return;
    }
    const dialog = root.createElement("dialog"), head = root.createElement("h2");
    head.id = "dialog-title";
    head.dir = "auto";
    head.textContent = title.textContent;
    dialog.setAttribute("aria-labelledby", head.id);
    renameIDs(form, "dialog-");
    dialog.append(head, root.adoptNode(form));
    root.body.append(dialog);
    dialog.addEventListener("close", () => { dialog.remove(); link.focus(); });
    enhance(dialog);
    dialog.showModal();
  }

  // upload sends a form with files and shows the progress.
  function upload(form) {
    const bar = form.querySelector("progress"), request = new XMLHttpRequest();
    const place = bar.closest("[data-progress]");
    if (place) place.hidden = false;
    request.open("POST", form.action);
    request.upload.addEventListener("progress", (e) => {
      if (!e.lengthComputable) return;
      bar.max = e.total;
      bar.value = e.loaded;
    });
    request.addEventListener("load", () => {
      if (request.responseURL && request.status < 400 && request.responseURL !== form.action) {
        location.assign(request.responseURL);
        return;
      }
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      const main = page.querySelector("main");
      if (main) {
        root.querySelector("main").replaceWith(root.adoptNode(main));
        enhance(root);
      } else {
        form.submit();
      }
    });
    request.addEventListener("error", () => {
      if (place) place.hidden = true;
      announce("The upload failed. Try again.");
      for (const b of form.querySelectorAll("button")) b.disabled = false;
    });
    const data = new FormData(form);
    for (const b of form.querySelectorAll("button")) b.disabled = true;
    request.send(data);
  }

  root.addEventListener("click", (e) => {
    const at = e.target.closest("[data-copy], [data-dismiss], a[data-dialog], dialog [data-close]");
    if (!at) return;
    if (at.dataset.copy) copy(at);
    else if ("dismiss" in at.dataset) at.parentElement.remove();
    else if ("close" in at.dataset) { e.preventDefault(); at.closest("dialog").close(); }
    else if (!e.ctrlKey && !e.metaKey && !e.shiftKey && e.button === 0) { e.preventDefault(); openDialog(at); }
  });

  root.addEventListener("submit", (e) => {
    const form = e.target;
    if ("upload" in form.dataset) {
      e.preventDefault();
      upload(form);
    }
  });

  root.addEventListener("change", (e) => {
    const form = e.target.closest("form[data-theme-form]");
    if (form) form.requestSubmit();
    if (e.target.name === "" && e.target.closest("[data-all]")) {
      for (const box of e.target.form.querySelectorAll("td input[type=checkbox]")) box.checked = e.target.checked;
    }
  });

  root.addEventListener("htmx:afterSwap", (e) => enhance(e.target));
  addEventListener("hashchange", () => takeToken(root));
  enhance(root);
})();
