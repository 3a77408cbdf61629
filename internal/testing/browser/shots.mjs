// Takes a screenshot of every page that each role can reach, in each look, and of
// every form submitted empty, and writes an index page that shows them side by side.
// Job: base, roles, looks, most, out (a folder).
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answers, crawl, job, open, run, say, visitor } from "./lib.mjs";

const rows = new Map(); // by role and page: the screenshot for each look

async function shoot(who, name) {
  const row = who.role.name + " " + name;
  const file = (row + " " + who.look).replace(/[^a-z0-9]+/gi, "-") + ".png";
  // Longer pages only repeat rows.
  const { width, height } = await who.page.evaluate(() => ({ width: innerWidth, height: Math.min(document.documentElement.scrollHeight, 2400) }));
  await who.page.screenshot({ path: join(job.out, file), fullPage: true, clip: { x: 0, y: 0, width, height } });
  if (!rows.has(row)) rows.set(row, {});
  rows.get(row)[who.look] = file;
}

// empty submits the forms of a page without values, if they have required fields.
async function empty(who, name) {
  const address = who.page.url();
  const count = await who.page.locator("main form[method=post]").count();
  for (let n = 0; n < count; n++) {
    if (n > 0) await open(who, address);
    const form = who.page.locator("main form[method=post]").nth(n);
    const needs = await form.evaluate((f) => [...f.elements].some((e) => e.required && e.type !== "radio" && e.tagName !== "SELECT") && !/sign-in\/code/.test(f.action));
    if (!needs) continue;
    const came = who.page.waitForNavigation({ waitUntil: "load" });
    await form.evaluate((f) => {
      for (const e of f.elements) if (e.type !== "hidden" && e.type !== "radio" && "value" in e && e.tagName !== "SELECT") e.value = "";
      HTMLFormElement.prototype.submit.call(f);
    });
    if ((await came)?.status() >= 400) await shoot(who, name + " sent empty " + n);
  }
}

const text = (s) => s.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

await run(async (browser) => {
  mkdirSync(job.out, { recursive: true });
  for (const look of job.looks) {
    for (const role of job.roles) {
      const who = await visitor(browser, role, look);
      const pages = await crawl(who, async (_, shape) => {
        await shoot(who, shape);
        who.muted = true;
        await empty(who, shape);
        who.muted = false;
      });
      await answers(who, () => shoot(who, who.at));
      say({ role: role.name, look, pages });
      await who.context.close();
    }
  }
  const cell = (file) => (file ? `<td><a href="${file}"><img src="${file}" loading="lazy" alt=""></a></td>` : "<td></td>");
  writeFileSync(join(job.out, "index.html"), `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Pages of the portal</title>
<style>body{font:14px sans-serif}td,th{vertical-align:top;text-align:left;padding:8px}img{max-width:420px;border:1px solid #999}</style><h1>Pages of the portal</h1>
<table><tr><th>page</th>${job.looks.map((l) => `<th>${l}</th>`).join("")}</tr>
${[...rows].map(([name, at]) => `<tr><th>${text(name)}</th>${job.looks.map((l) => cell(at[l])).join("")}</tr>`).join("\n")}</table></html>\n`);
});
