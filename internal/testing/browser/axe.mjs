// Opens every page that each role can reach, in each look (screen size and colour
// scheme), and checks it with axe, with the keyboard, and against the limit for
// the size of a first visit. Job: base, roles, looks, most, wrong (for each role,
// a page that it must not see).
import { judge } from "./judge.mjs";
import { answers, blame, crawl, job, open, run, say, visitor } from "./lib.mjs";
import { dialogs, tabs } from "./keyboard.mjs";

// The limit for a first visit: bytes on the wire, all files included.
const maxBytes = 150_000;

// skeleton is the set of elements of a page, without texts and counts: pages with
// the same skeleton need not be judged twice.
const skeleton = (page) => page.evaluate(() => {
  const part = (e) => e.tagName + "." + e.className + "[" + e.getAttributeNames().filter((n) => n !== "aria-current").join() + "]";
  return [...new Set([...document.querySelectorAll("body *")].map((e) => part(e.parentElement) + ">" + part(e)))].sort().join("\n");
});

// overflow reports elements that make the page wider than the screen, and tables
// so wide that their buttons are out of sight.
async function overflow(who) {
  const wide = await who.page.evaluate(() => {
    const hidden = [...document.querySelectorAll(".table-frame td.tools")].find((e) => e.getBoundingClientRect().right > e.closest(".table-frame").getBoundingClientRect().right + 1);
    if (hidden) return [hidden.outerHTML.slice(0, 200)];
    if (document.documentElement.scrollWidth <= document.documentElement.clientWidth) return [];
    const edge = document.documentElement.clientWidth;
    return [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > edge + 1 && !e.closest(".table-frame, pre")).slice(0, 3).map((e) => e.outerHTML.slice(0, 120));
  });
  if (wide.length > 0) blame({ role: who.role.name, look: who.look, page: who.at }, "wider than the screen: " + wide.join(" | "));
}

// weigh opens a page with an empty cache and counts the bytes on the wire.
async function weigh(browser, role, address) {
  const who = await visitor(browser, role, "desktop light");
  const wire = await who.context.newCDPSession(who.page);
  let bytes = 0;
  await wire.send("Network.enable");
  wire.on("Network.loadingFinished", (e) => { bytes += e.encodedDataLength; });
  await open(who, address);
  await who.page.waitForLoadState("networkidle");
  await who.context.close();
  return bytes;
}

await run(async (browser) => {
  for (const look of job.looks) {
    const known = new Set();
    let judged = 0, heaviest = { bytes: 0 };
    for (const role of job.roles) {
      const who = await visitor(browser, role, look);
      const examine = async (_, shape) => {
        await overflow(who);
        const bones = shape.replace(/\?[^ ]*/, "") + (await skeleton(who.page));
        if (known.has(bones)) return;
        known.add(bones);
        judged++;
        await judge(who);
        await tabs(who);
        await dialogs(who, judge);
        const size = (await who.page.content()).length;
        if (size > heaviest.bytes && !shape.includes(" sent")) heaviest = { bytes: size, role, address: who.page.url() };
      };
      const pages = await crawl(who, examine);
      await answers(who, examine);
      for (const address of job.wrong[role.name] || []) {
        who.muted = true; // the browser reports a 404 as an error
        const answer = await open(who, address);
        who.muted = false;
        if (answer.status() !== 404 || !(await who.page.getByRole("heading", { level: 1 }).count())) blame({ role: role.name, look, page: address }, "a page that the role must not see answered " + answer.status());
      }
      say({ role: role.name, look, pages });
      await who.context.close();
    }
    const bytes = await weigh(browser, heaviest.role, heaviest.address);
    if (bytes > maxBytes) blame({ role: heaviest.role.name, look, page: heaviest.address }, `a first visit takes ${bytes} bytes, more than ${maxBytes}`);
    say({ look, note: `${judged} different pages; the first visit of the largest, ${new URL(heaviest.address).pathname}, takes ${bytes} bytes` });
  }
});
