// Draws charts in each look and measures them: labels, bars and what can be read.
// Job: looks, page (HTML), out (a folder for pictures, or empty).
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { blame, job, run, say, visitor } from "./lib.mjs";

// measure returns what is wrong with the charts of the page as it is laid out.
function measure() {
  const wrong = [], box = (e) => e.getBoundingClientRect();
  const apart = (a, b) => a.right <= b.left + 0.5 || b.right <= a.left + 0.5 || a.bottom <= b.top + 0.5 || b.bottom <= a.top + 0.5;
  for (const section of document.querySelectorAll("section")) {
    const say = (what) => wrong.push(section.dataset.name + ": " + what), days = Number(section.dataset.days), svg = section.querySelector("svg");
    if (days === 0) {
      if (svg) say("is drawn, with nothing to draw");
      continue;
    }
    const frame = box(svg), edge = box(section);
    for (const kind of [".chart-values", ".chart-dates", ".legend"]) {
      const labels = [...section.querySelectorAll(kind + " > *")];
      if (labels.length === 0) say("has no " + kind);
      labels.forEach((e, i) => {
        if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline") say(`"${e.textContent}" is cut off`);
        if (box(e).left < edge.left - 0.5 || box(e).right > edge.right + 0.5) say(`"${e.textContent}" leaves the chart`);
        for (const other of labels.slice(i + 1)) if (!apart(box(e), box(other))) say(`"${e.textContent}" lies on "${other.textContent}"`);
      });
    }
    const bars = [...svg.querySelectorAll("rect:not(.chart-cursor)")];
    if (bars.length < days) say(`has ${bars.length} bars`);
    for (const e of bars) {
      const b = box(e);
      if (b.left < frame.left - 0.5 || b.right > frame.right + 0.5 || b.top < frame.top - 0.5 || b.bottom > frame.bottom + 0.5) say("a bar leaves the frame");
      if (b.width < 0.4) say(`a bar is ${b.width} wide`);
    }
    if (!/in answers/.test(svg.getAttribute("aria-label")) || !/answers per day/.test(section.textContent)) say("has no unit");
    if (section.querySelectorAll("tbody tr").length !== days) say("has another number of rows in its table");
  }
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) wrong.push("the page is wider than the screen");
  return wrong;
}

// read goes to the last day of each chart by key, and to the middle by pointer.
async function read(who) {
  for (const section of await who.page.locator("section:has(svg)").all()) {
    const name = await section.getAttribute("data-name"), svg = section.locator("svg"), reading = section.locator("[data-reading]");
    const rows = await section.locator("tbody th").allTextContents();
    await svg.focus();
    for (const [key, day] of [["End", rows.at(-1)], ["Home", rows[0]]]) {
      await who.page.keyboard.press(key);
      const text = await reading.textContent();
      if (!text.startsWith(day + ": ")) blame({ look: who.look, page: name }, `${key} reads "${text}", want ${day}`);
    }
    const middle = Math.floor(rows.length / 2), frame = await svg.boundingBox();
    await svg.hover({ position: { x: (frame.width * (middle + 0.5)) / rows.length, y: frame.height / 2 } });
    const text = await reading.textContent();
    if (!text.startsWith(rows[middle] + ": ")) blame({ look: who.look, page: name }, `the pointer reads "${text}"`);
  }
}

await run(async (browser) => {
  if (job.out) mkdirSync(job.out, { recursive: true });
  for (const look of job.looks) {
    const who = await visitor(browser, { name: "nobody" }, look);
    await who.page.setContent(job.page);
    for (const finding of await who.page.evaluate(measure)) blame({ role: "nobody", look, page: "charts" }, finding);
    if (job.out) await who.page.screenshot({ path: join(job.out, `charts ${look}.png`.replaceAll(" ", "-")), fullPage: true });
    await read(who);
    say({ look, note: `${await who.page.locator("section").count()} charts` });
    await who.context.close();
  }
});
