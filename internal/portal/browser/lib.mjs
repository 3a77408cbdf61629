// What the scripts share: how a browser is started, how somebody visits, and how
// all pages are found that a person can reach by links.
//
// A script gets its job as JSON on standard input and prints one line of JSON
// for each result. A line with "finding" is something that must not be; after
// one of those the script ends with 1.
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

// run starts a browser for work, and ends the script by what was found.
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

// visitor is somebody of a role with a browser of their own. What a page must
// never do is noticed from here on: errors, refusals by the content policy,
// requests to other hosts, dialogs of scripts.
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
  context.on("dialog", (d) => { wrong("a script asks: " + d.message().slice(0, 100)); d.dismiss().catch(() => {}); });
  context.on("request", (r) => { if (!r.url().startsWith(job.base + "/") && !r.url().startsWith("data:")) wrong("a request leaves for " + r.url().slice(0, 200)); });
  return who;
}

// shapeOf is an address without what differs between pages of one kind. A list
// the other way round is the same page.
export function shapeOf(address) {
  const url = new URL(address, job.base);
  const names = [...new Set(url.searchParams.keys())].filter((n) => n !== "dir").sort().join("&");
  return url.pathname.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "{id}") + (names && "?" + names);
}

// open goes to an address and returns the answer, or null for a file.
export async function open(who, address) {
  who.at = shapeOf(address);
  try {
    return await who.page.goto(new URL(address, job.base).href, { waitUntil: "load" });
  } catch (err) {
    if (/Download is starting|ERR_ABORTED/.test(String(err))) return null;
    throw err;
  }
}

// The pages that no link of the menu leads to.
const outside = ["/portal/sign-in", "/portal/forgotten", "/portal/invitation", "/portal/reset", "/portal/confirm", "/portal/guide/answers"];

// crawl opens one page of each shape that links lead to from the start, breadth
// first, and calls visit for each. Forms are not sent. It returns the pages.
export async function crawl(who, visit) {
  const next = ["/portal/", ...(who.role.session ? [] : outside)], seen = new Set(), done = [];
  while (next.length > 0 && done.length < (job.most || 150)) {
    const address = next.shift(), shape = shapeOf(address);
    if (seen.has(shape) || /\/(export|content|assets)\b/.test(address)) continue;
    seen.add(shape);
    const answer = await open(who, address);
    if (answer === null) continue;
    const here = shapeOf(who.page.url());
    if (here !== shape && seen.has(here)) continue; // it led to a page that was seen
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

// What comes as the answer to a form, and to no link: the page of the form, what
// is typed into its fields (true ticks one), the button, and the status.
const forms = {
  admin: [
    ["/portal/new-key", { "Name of the application": "fraud desk" }, "Generate the key"],
    ["/portal/try", {}, "Make a key for tests and send"],
  ],
  administrator: [
    ["/portal/desk/numbers", { "Phone number": "+2348031000001", Reason: "A complaint, case 12/26" }, "Look up"],
    ["/portal/desk/journal", { Reason: "A complaint, case 12/26", Organisation: "First Telco" }, "Search"],
    ["/portal/desk/journal", { Reason: "A complaint, case 12/26", Organisation: "Amalgamated" }, "Search", 422], // several have it in their name
    ["/portal/desk/new-client", { Name: "Harmattan Telecom", "entity:onboard": true }, "Make the client"],
  ],
};

// answers sends those forms that a role has, and calls visit for what comes.
export async function answers(who, visit) {
  for (const [path, fields, button, status = 200] of forms[who.role.name] || []) {
    await open(who, path);
    for (const [label, value] of Object.entries(fields)) {
      const field = who.page.locator("main").getByLabel(label).first();
      await (value === true ? field.check() : field.fill(value));
    }
    const came = who.page.waitForNavigation({ waitUntil: "load" });
    who.muted = status >= 400; // which the browser reports as an error
    await who.page.locator("main").getByRole("button", { name: button, exact: true }).click();
    const answer = await came;
    who.muted = false;
    who.at = path + " sent" + (fields.Organisation ? " " + fields.Organisation : "");
    if (answer.status() !== status) blame({ role: who.role.name, look: who.look, page: who.at }, "answered " + answer.status());
    await visit(who, who.at);
  }
}
