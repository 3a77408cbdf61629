// Shared by the scripts: starting a browser, visiting as a role, and crawling all
// pages that a visitor can reach by links.
//
// A script reads its job as JSON from standard input and prints one line of JSON
// for each result. A line with "finding" reports a defect; the script then exits
// with status 1.
import { text } from "node:stream/consumers";
import { chromium } from "playwright-core";

export const job = JSON.parse(await text(process.stdin));

let found = 0;

// say prints a result.
export function say(result) {
  process.stdout.write(JSON.stringify(result) + "\n");
}

// blame prints a finding.
export function blame(where, finding) {
  found++;
  say({ ...where, finding });
}

// run starts a browser for work and sets the exit status from the findings.
export async function run(work) {
  const browser = await chromium.launch({
    executablePath: job.chromium || "/usr/bin/chromium",
    // The sandbox needs a user other than root; the pages are our own.
    args: process.getuid() === 0 ? ["--no-sandbox"] : [],
  });
  try {
    await work(browser);
  } catch (err) {
    blame({}, String(err.stack || err));
  } finally {
    await browser.close();
  }
  process.exitCode = found > 0 ? 1 : 0;
}

export const looks = {
  "desktop light": { viewport: { width: 1280, height: 800 }, colorScheme: "light" },
  "phone dark": { viewport: { width: 390, height: 844 }, colorScheme: "dark", hasTouch: true, isMobile: true },
  "desktop dark": { viewport: { width: 1280, height: 800 }, colorScheme: "dark" },
  "phone light": { viewport: { width: 390, height: 844 }, colorScheme: "light", hasTouch: true, isMobile: true },
};

// visitor opens a browser context for a role. From then on it reports what a page
// must never do: script errors, violations of the content security policy,
// requests to other hosts, script dialogs.
export async function visitor(browser, role, look, options = {}) {
  const context = await browser.newContext({ ...looks[look], reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(20_000);
  if (role.session) {
    await context.addCookies([{ name: "__Host-lineproof", value: role.session, url: job.base.replace("http://", "https://") + "/", secure: true, httpOnly: true }]);
  }
  const page = await context.newPage();
  const who = { context, page, role, look, at: "", muted: false };
  const wrong = (what) => { if (!who.muted) blame({ role: role.name, look, page: who.at }, what); };
  context.on("console", (m) => { if (m.type() === "error") wrong("console: " + m.text().slice(0, 300)); });
  context.on("weberror", (e) => wrong("script: " + String(e.error()).slice(0, 300)));
  context.on("dialog", (d) => { wrong("a script opened a dialog: " + d.message().slice(0, 100)); d.dismiss().catch(() => {}); });
  context.on("request", (r) => { if (!r.url().startsWith(job.base + "/") && !r.url().startsWith("data:")) wrong("a request to another host: " + r.url().slice(0, 200)); });
  return who;
}

// shapeOf is an address without the parts that differ between pages of one kind,
// such as ids. The sort direction of a list does not matter.
export function shapeOf(address) {
  const url = new URL(address, job.base);
  const names = [...new Set(url.searchParams.keys())].filter((n) => n !== "dir").sort().join("&");
  return url.pathname.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "{id}") + (names && "?" + names);
}

// open goes to an address and returns the response, or null for a download.
export async function open(who, address) {
  who.at = shapeOf(address);
  try {
    return await who.page.goto(new URL(address, job.base).href, { waitUntil: "load" });
  } catch (err) {
    if (/Download is starting|ERR_ABORTED/.test(String(err))) return null;
    throw err;
  }
}

// Pages that the menu does not link to.
const outside = ["/portal/sign-in", "/portal/forgotten", "/portal/invitation", "/portal/reset", "/portal/confirm", "/portal/guide/answers"];

// crawl follows links from the start page, breadth first, opens one page of each
// shape, and calls visit for it; then it opens the pages of role.also, which show a
// shape in another state, and follows what only they link to. It submits no forms and
// leaves out parts of pages (progress). It returns the pages.
export async function crawl(who, visit) {
  const next = ["/portal/", ...(who.role.session ? [] : outside)], also = [...(who.role.also || [])], seen = new Set(), done = [];
  while (next.length + also.length > 0 && done.length < (job.most || 150)) {
    const another = next.length === 0, address = (another ? also : next).shift(), shape = shapeOf(address);
    if ((seen.has(shape) && !another) || /\/(export|content|assets|progress)\b/.test(address)) continue;
    seen.add(shape);
    const answer = await open(who, address);
    if (answer === null) continue;
    const here = shapeOf(who.page.url());
    if (here !== shape && seen.has(here)) continue; // it redirected to a page that was seen already
    seen.add(here);
    who.at = here;
    if (answer.status() !== 200) blame({ role: who.role.name, look: who.look, page: here }, "answered " + answer.status());
    const links = await who.page.$$eval("a[href], [hx-get]", (all) => all.map((a) => a.getAttribute("href") || a.getAttribute("hx-get")));
    for (const link of links) if (/^(\/portal\/|\?)/.test(link)) next.push(new URL(link, who.page.url()).href.replace(/#.*/, ""));
    done.push(here);
    await visit(who, here);
  }
  return done;
}

// Pages that are reached only by submitting a form: the page of the form, the
// values of its fields (true ticks a checkbox), the button, the status, and the buttons
// to press on the resulting pages.
const forms = {
  admin: [
    ["/portal/new-key", { "Application name": "fraud desk" }, "Generate key"],
    ["/portal/try", {}, "Create test key and send"],
  ],
  administrator: [
    ["/portal/desk/numbers", { "Phone number": "+2348031000001", Reason: "A complaint, case 12/26" }, "Look up number"],
    ["/portal/desk/numbers", { "Phone number": "+2348037700002", Reason: "A complaint, case 12/26" }, "Look up number", 200, ["Bar number"]],
    ["/portal/desk/numbers", { "Phone number": "+2348037700002", Reason: "A complaint, case 12/26" }, "Look up number", 200, ["Void event"]],
    ["/portal/desk/new-policy", { Note: "A direction", "SWAPPED after a new SIM, in hours": "120" }, "Review changes"],
    ["/portal/desk/journal", { Reason: "A complaint, case 12/26", Organisation: "First Telco" }, "Search"],
    ["/portal/desk/journal", { Reason: "A complaint, case 12/26", Organisation: "Amalgamated" }, "Search", 422], // several organisations match
    ["/portal/desk/new-client", { Name: "Harmattan Telecom", "entity:onboard": true }, "Create client"],
  ],
};

// answers submits the forms of a role and calls visit for each resulting page.
export async function answers(who, visit) {
  for (const [path, fields, button, status = 200, more = []] of forms[who.role.name] || []) {
    await open(who, path);
    for (const [label, value] of Object.entries(fields)) {
      const field = who.page.locator("main").getByLabel(label).first();
      await (value === true ? field.check() : field.fill(value));
    }
    const came = who.page.waitForNavigation({ waitUntil: "load" });
    who.muted = status >= 400; // the browser reports such a status as an error
    await who.page.locator("main").getByRole("button", { name: button, exact: true }).click();
    const answer = await came;
    who.muted = false;
    who.at = path + " sent" + (fields.Organisation ? " " + fields.Organisation : "");
    if (answer.status() !== status) blame({ role: who.role.name, look: who.look, page: who.at }, "answered " + answer.status());
    await visit(who, who.at);
    for (const next of more) {
      const shown = who.page.waitForNavigation({ waitUntil: "load" });
      await who.page.locator("main").getByRole("button", { name: next, exact: true }).first().click();
      const status = (await shown).status();
      who.at = path + " sent, " + next;
      if (status !== 200) blame({ role: who.role.name, look: who.look, page: who.at }, "answered " + status);
      await visit(who, who.at);
    }
  }
}
