// Walks from the landing page of the guide to a verified number, as an engineer of a new
// bank does, then checks the guide: its search and its menu without scripts, and every page
// with axe, in each look. Job: base, link (of an invitation), name, password, looks, most
// (pages of each look).
import { judge } from "./judge.mjs";
import { tabs } from "./keyboard.mjs";
import { blame, job, open, run, say, visitor } from "./lib.mjs";

// Seconds for an act, for a typed character, and for a page; text that is to be read takes
// a quarter of a second a word.
const pace = { act: 1.2, type: 0.15, page: 3, word: 0.25 };

// walk goes from the landing page to an answer about a test number.
async function walk(browser) {
  const who = await visitor(browser, { name: "guest" }, "desktop light"), { context, page } = who;
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: job.base });
  const steps = [];
  let seconds = 0;
  const act = async (what, does, typed = 0) => {
    seconds += pace.act + typed * pace.type;
    steps.push(what);
    who.at = what;
    await does();
  };
  const sees = async (title) => {
    seconds += pace.page;
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
  };
  const reads = async (part) => { seconds += pace.word * (await page.locator(part).innerText()).split(/\s+/).length; };
  const press = (kind, name) => act("press " + name, () => page.getByRole(kind, { name, exact: true }).filter({ visible: true }).first().click());
  const fill = (label, value) => act("fill " + label, () => page.getByLabel(label).fill(value), value.length);

  await act("open the guide", () => page.goto(job.base + "/guide/"));
  await sees(/^Ask what state/);
  await reads(".hero");
  const told = JSON.parse(await page.locator("#told").innerText()).data;
  const asked = (await page.locator("#ask").innerText()).match(/"phoneNumber":"([^"]+)"/)[1];
  await press("link", "Get a test key in two minutes");
  await sees("An API key in two minutes");
  await reads("article");
  seconds += pace.page; // the e-mail
  await act("open the invitation", () => page.goto(job.link));
  await sees("Welcome");
  await fill("Your name", job.name);
  await fill("Choose a password", job.password);
  await press("button", "Activate account");
  await sees("Home");
  await press("link", "API settings");
  await sees("API settings");
  await press("link", "Generate key");
  await sees("New key");
  await fill("Application name", "fraud desk");
  await press("button", "Generate key");
  await sees("Your new key");
  await press("button", "Copy API key");
  const key = await page.evaluate(() => navigator.clipboard.readText());
  await press("button", "Verify a test number");
  await page.getByText("200 OK").first().waitFor();
  seconds += pace.page;
  say({ walk: "from the landing page to a verified number", acts: steps.length, seconds: Math.round(seconds * 10) / 10, steps, key });

  // The answer on the landing page is the one that its request gets.
  const answer = await context.request.post(job.base + "/api/v1/phone/api/phone-numbers/verify", { headers: { Authorization: "Bearer " + key }, data: { phoneNumber: asked } });
  const { data } = await answer.json();
  for (const name of ["phoneNumber", "status", "mobileNetwork"]) if (data[name] !== told[name]) blame({ page: "landing" }, `${name} is ${data[name]}, and the page shows ${told[name]}`);
  if (Object.keys(data).join() !== Object.keys(told).join()) blame({ page: "landing" }, "the answer has the fields " + Object.keys(data).join());
  await context.close();
}

// withoutScripts searches, and opens the menu on a phone.
async function withoutScripts(browser) {
  const who = await visitor(browser, { name: "guest" }, "phone dark", { javaScriptEnabled: false }), { page } = who;
  await open(who, "/guide/");
  await page.getByRole("searchbox").fill("rejected rows");
  await page.keyboard.press("Enter");
  await page.locator(".results a").first().click();
  await page.getByRole("heading", { level: 1, name: "Supply files" }).waitFor();
  await page.getByRole("link", { name: "Menu", exact: true }).click();
  await page.locator("#menu").getByRole("link", { name: "Glossary" }).click();
  await page.getByRole("heading", { level: 1, name: "Glossary" }).waitFor();
  await who.context.close();
}

// withScripts copies code, and goes to the search with a key.
async function withScripts(browser) {
  const who = await visitor(browser, { name: "guest" }, "desktop light"), { context, page } = who;
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: job.base });
  await open(who, "/guide/how-to/test-with-test-numbers");
  const block = page.locator(".code").first();
  await block.hover();
  await block.getByRole("button").click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  if (copied !== (await block.locator("pre").textContent())) blame({ page: who.at }, "the copied code is " + copied.slice(0, 40));
  await page.keyboard.press("/");
  await page.keyboard.type("rotate the pepper\n");
  await page.getByRole("heading", { level: 1, name: "Search" }).waitFor();
  await page.getByLabel("Theme").selectOption("dark");
  await page.locator("html[data-theme=dark]").waitFor();
  if (!page.url().includes("/guide/search?q=rotate")) blame({ page: who.at }, "a new theme leads to " + page.url());
  await context.close();
}

// pages opens the pages of the guide and judges each.
async function pages(browser, look) {
  const who = await visitor(browser, { name: "guest" }, look), { page } = who;
  const next = ["/guide/", "/guide/search?q=test+key", "/guide/search?q=zzzyqx", "/guide/search"], seen = new Set();
  while (next.length > 0 && seen.size < job.most) {
    const address = next.shift();
    if (seen.has(address)) continue;
    seen.add(address);
    const answer = await open(who, address);
    if (answer.status() !== 200) blame({ look, page: address }, "answered " + answer.status());
    await judge(who);
    if (seen.size <= 2) await tabs(who);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wide > 0) blame({ look, page: address }, `${wide} pixels wider than the screen`);
    for (const link of await page.$$eval("a[href^='/guide/']", (all) => all.map((a) => a.getAttribute("href").replace(/#.*/, "")))) if (!/search\?|\.png|\.svg/.test(link)) next.push(link);
  }
  say({ look, note: `${seen.size} pages`, pages: [...seen] });
  await who.context.close();
}

await run(async (browser) => {
  await walk(browser);
  await withoutScripts(browser);
  await withScripts(browser);
  for (const look of job.looks) await pages(browser, look);
});
