// Does the tasks that people come for, as they do them: from their home page, by what the
// pages offer. It counts their acts (a click, a choice, a field, a key that submits) and
// the time at a human pace. Job: base, people (roles by name), number (of a line to bar),
// asked (a number that banks asked about), network.
import { blame, job, run, say, visitor } from "./lib.mjs";

// Seconds for an act, for a typed character, and for a page that is new to the eye.
const pace = { act: 1.2, type: 0.15, page: 3 };

// Walk is one task, which several people may share. It counts what they do.
class Walk {
  constructor(browser, task) {
    Object.assign(this, { browser, task, acts: 0, seconds: 0, steps: [], people: {} });
  }

  // home brings somebody to their home page, signed in already; that is not counted.
  async home(name) {
    if (!this.people[name]) {
      this.people[name] = await visitor(this.browser, job.people[name], "desktop light");
      await this.people[name].context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: job.base });
    }
    this.who = this.people[name];
    this.page = this.who.page;
    await this.page.goto(job.base + "/portal/", { waitUntil: "load" });
    await this.reads("Home");
  }

  async act(what, does, typed = 0) {
    this.acts++;
    this.seconds += pace.act + typed * pace.type;
    this.steps.push(what);
    this.who.at = this.task + ": " + what;
    await does();
  }

  // reads waits for a page with this title; reading is no act, but takes time.
  async reads(title) {
    this.seconds += pace.page;
    await this.page.getByRole("heading", { level: 1, name: title }).waitFor();
  }

  // shows waits for a page by something else than its title.
  async shows(locator) {
    this.seconds += pace.page;
    await locator.waitFor();
  }

  // within is the open dialog, or the page.
  async within(area) {
    const dialog = this.page.locator("dialog[open]");
    if (await dialog.count()) return dialog;
    return this.page.locator(area);
  }

  menu(name) { return this.act("menu " + name, () => this.page.locator("nav").getByRole("link", { name: new RegExp("^" + name) }).filter({ visible: true }).first().click()); }

  link(name) { return this.act("open " + (name.source ?? name), () => this.page.locator("main").getByRole("link", { name }).filter({ visible: true }).first().click()); }

  dialog(name) {
    return this.act("open " + name, async () => {
      await this.page.locator("main").getByRole("link", { name, exact: true }).filter({ visible: true }).first().click();
      await this.shows(this.page.locator("dialog[open]"));
    });
  }

  press(name) { return this.act("press " + name, async () => (await this.within("main")).getByRole("button", { name, exact: true }).filter({ visible: true }).first().click()); }

  fill(label, value) { return this.act("fill " + label, async () => (await this.within("main")).getByLabel(label).first().fill(value), value.length); }

  choose(label) { return this.act("choose " + label, async () => (await this.within("main")).getByLabel(label).first().check()); }

  // sees fails unless the page says something, which is what the task was for.
  async sees(text) { await this.page.locator("main, .flash-place").getByText(text).filter({ visible: true }).first().waitFor(); }

  async end() {
    say({ walk: this.task, acts: this.acts, seconds: Math.round(this.seconds * 10) / 10, steps: this.steps });
    for (const one of Object.values(this.people)) await one.context.close();
  }
}

const tasks = {
  "admit a bank": async (w) => {
    await w.home("administrator");
    await w.menu("Organisations");
    await w.reads("Organisations");
    await w.link("Add organisation");
    await w.reads("New organisation");
    await w.fill("Organisation name", "Savings Bank of Enugu");
    await w.fill("CAC number", "RC 778899");
    await w.fill("E-mail address of the first admin", "chika@savings.example");
    await w.press("Add organisation");
    await w.reads("Savings Bank of Enugu");
    await w.sees("The invitation e-mail to its admin is queued");
    await toast(w);
  },
  "bar a number and have it confirmed": async (w) => {
    await w.home("reviewer");
    await w.menu("Number history");
    await w.reads("Number history");
    await w.fill("Phone number", job.number);
    await w.fill("Reason", "Fraud, case 31 of 2026");
    await w.press("Look up number");
    await w.reads("Number history");
    await w.press("Bar number");
    await w.reads("Bar a number");
    await w.choose("FRAUD");
    await w.press("Order bar");
    await w.reads("Approvals");
    await w.sees("The number is barred");
    await w.home("second");
    await w.link(/Let a bar last: Fraud, case 31/);
    await w.reads("Confirm: Let a bar last");
    await w.press("Confirm");
    await w.reads("Approvals");
    await w.sees("Confirmed. It has taken effect.");
  },
  "confirm a held file": async (w) => {
    await w.home("reviewer");
    await w.link(/^Snapshot of /);
    await w.reads("Snapshot import");
    await w.dialog("Apply held file");
    await w.fill("Reason", "The operator has sold these lines");
    await w.press("Request approval");
    await w.reads("Snapshot import");
    await w.home("second");
    await w.link(/Apply a held file: The operator/);
    await w.reads("Confirm: Apply a held file");
    await w.press("Confirm");
    await w.reads("Approvals");
    await w.sees("Confirmed. It has taken effect.");
  },
  "find why a request was refused": async (w) => {
    await w.home("bank");
    await w.link("Refused requests");
    await w.reads("Requests");
    await w.link(job.refused);
    await w.reads("Refused request");
    await w.sees("INVALID_ARGUMENT");
    await w.sees("phoneNumber");
  },
  "answer who asked about this number": async (w) => {
    await w.home("administrator");
    await w.menu("Who asked");
    await w.reads("Who asked");
    await w.fill("Phone number", job.asked);
    await w.fill("Reason", "Request of the holder, letter 114 of 2026");
    await w.press("Request search");
    await w.reads("Who asked");
    await w.home("colleague");
    await w.link(/Search who asked about a number/);
    await w.reads("Confirm: Search who asked");
    await w.press("Confirm");
    await w.reads("Approvals");
    await w.back("administrator");
    await w.menu("Who asked");
    await w.reads("Who asked");
    await w.press("Run search");
    await w.shows(w.page.getByText(/What organisations were told about/));
    await w.sees(job.bank);
  },
  "rotate a client's secret": async (w) => {
    await w.home("telco");
    await w.menu("API client");
    await w.reads("API client");
    await w.press("Add secret");
    await w.reads("New client secret");
    await w.press("Copy Client secret");
    const copied = await w.page.evaluate(() => navigator.clipboard.readText());
    if (!copied.startsWith("lp_sec_")) blame({ page: w.task }, "the copied secret is " + copied.slice(0, 7));
    await w.link("Revoke old secret");
    await w.reads("Revoke secret");
    await w.press("Revoke secret");
    await w.reads("API client");
    await w.sees("The secret is revoked");
  },
  "handle a scan alert": async (w) => {
    await w.home("administrator");
    await w.link(/: (Stopped|Slowed to a tenth)$/);
    await w.reads("Release organisation");
    await w.sees(/different numbers/);
    await w.fill("Reason", "Payroll of a ministry, asked by telephone");
    await w.press("Request approval");
    await w.shows(w.page.getByText("Nothing has changed yet").first());
    await w.home("colleague");
    await w.link(/Payroll of a ministry/);
    await w.reads("Confirm: Release from the guard");
    await w.press("Confirm");
    await w.reads("Approvals");
    await w.sees("Confirmed. It has taken effect.");
  },
  "review a document": async (w) => {
    await w.home("reviewer");
    await w.link(/^CAC certificate of /);
    await w.shows(w.page.getByText("Save decision"));
    await w.choose("Accept");
    await w.press("Save decision");
    await w.shows(w.page.getByText("The document is accepted.").first());
  },
  "prove an answer": async (w) => {
    await w.home("bank");
    await w.link("Journal");
    await w.reads("Journal");
    await w.link(job.answer);
    await w.reads("Record");
    await w.link("Receipt that proves this answer to anybody");
    await w.reads("Receipt");
    await w.press("Verify receipt");
    await w.shows(w.page.locator("#verified[data-judged=genuine]"));
  },
};

// back returns to a page that somebody had left open.
Walk.prototype.back = async function (name) {
  this.who = this.people[name];
  this.page = this.who.page;
};

// toast checks the message about what was done on a small screen: its button has one line,
// and takes the message away. That is not part of the task.
async function toast(w) {
  await w.page.setViewportSize({ width: 390, height: 844 });
  const button = w.page.locator(".flash").getByRole("button", { name: "Dismiss" });
  const box = await button.boundingBox(), message = await w.page.locator(".flash").boundingBox();
  const lines = await button.evaluate((b) => { const r = document.createRange(); r.selectNodeContents(b); return r.getClientRects().length; });
  if (lines !== 1) blame({ page: "toast" }, `the button has ${lines} lines`);
  if (box.x < message.x || box.x + box.width > message.x + message.width) blame({ page: "toast" }, "the button leaves the message");
  await button.click();
  if (await w.page.locator(".flash").count()) blame({ page: "toast" }, "the button does not take the message away");
  await w.page.setViewportSize({ width: 1280, height: 800 });
}

await run(async (browser) => {
  for (const [task, does] of Object.entries(tasks)) {
    const w = new Walk(browser, task);
    try {
      await does(w);
    } catch (err) {
      blame({ page: task }, `after ${w.steps.join(", ")}: ${String(err).split("\n").slice(0, 4).join(" ")} at ${w.page?.url()}`);
    }
    await w.end();
  }
});
