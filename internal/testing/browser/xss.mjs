// Submits hostile text in every form, then opens every page as every role, and
// checks that the text stayed text. Job: base, payloads, storm (roles that submit
// forms), roles (that open pages afterwards), spare (words; a form whose address
// contains one is not submitted), looks, most.
import { blame, crawl, job, open, run, say, visitor } from "./lib.mjs";

// hostile finds elements and attributes that no page of ours contains, and counts
// how often hostile text is shown as text.
function hostile() {
  const found = [], own = (address) => new URL(address, location.href).origin === location.origin;
  if (window.__hit !== undefined) found.push("a script ran");
  for (const e of document.querySelectorAll("*")) {
    const at = e.outerHTML.slice(0, 160);
    if (/^(iframe|object|embed|base|style|math|applet|frame|template)$/i.test(e.tagName)) found.push("an element that we never use: " + at);
    if (e.tagName === "SCRIPT" && !e.src) found.push("a script within the page: " + at);
    for (const { name, value } of e.attributes) {
      if (/^(on|style$|srcdoc$|data-canary|(data-)?hx-(on|vals|vars|headers|ext))/i.test(name)) found.push(`an attribute that we never use, ${name}: ${at}`);
      if (/^(href|src|action|formaction|xlink:href|hx-get|hx-post)$/i.test(name) && !own(value)) found.push("an address that leads away: " + at);
    }
  }
  const typed = [...document.querySelectorAll("input, textarea")].map((e) => e.value).join(" ");
  return { found, shown: (document.documentElement.textContent + typed).split("__hit").length - 1 };
}

let pages = 0, shown = 0, sent = 0, kept = 0;

async function look(who) {
  const r = await who.page.evaluate(hostile);
  for (const what of r.found.slice(0, 5)) blame({ role: who.role.name, look: who.look, page: who.at }, what);
  pages++;
  if (r.shown > 0) shown++;
}

// fill puts text into the fields of a form. With honest, fields that need a
// certain format get a valid value, so that the form is accepted and the text is
// stored.
async function fill(form, text, honest, i) {
  for (const field of await form.locator("input:not([type=hidden], [type=radio], [type=checkbox]), textarea").all()) {
    const about = await field.evaluate((e) => ({ type: e.type, name: e.name, mode: e.inputMode, max: e.maxLength, label: e.labels?.[0]?.textContent || "" }));
    let value = text;
    if (about.type === "file") {
      await field.setInputFiles({ name: text.replaceAll("/", "") + ".pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4\n") });
      continue;
    }
    if (honest) {
      if (about.type === "email") value = `guest-${process.pid}-${i}@people.example`;
      else if (about.type === "date") value = "2026-01-15";
      else if (about.type === "number" || about.mode === "numeric") value = "7";
      else if (about.name === "confirm") value = about.label.replace(/^\s*Type “(.*)” to confirm\s*$/s, "$1");
      else if (/network|number|phone|since|from|until/i.test(about.name)) value = "";
      else if (/cac/i.test(about.name)) value = "RC 7" + process.pid + i;
    }
    if (about.max > 0) value = value.slice(0, about.max);
    await field.evaluate((e, v) => { e.value = v; }, value);
  }
  for (const choice of await form.locator("select").all()) {
    await choice.evaluate((e) => { if (!e.value && e.options.length > 1) e.selectedIndex = 1; });
  }
}

// storm submits every form of a role.
async function storm(browser, role) {
  const who = await visitor(browser, role, "desktop light"), forms = [];
  const seen = await crawl(who, async (_, shape) => {
    await look(who);
    const actions = await who.page.$$eval("main form", (all) => all.map((f, n) => ({ n, method: f.method, action: f.getAttribute("action") || "", asks: "confirm" in f.dataset })));
    for (const f of actions) {
      if (/sign-out|theme|sessions|security/.test(f.action) || job.spare.some((word) => f.action.includes(word))) continue;
      const key = shape + f.action.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "{id}");
      if (!forms.some((o) => o.key === key)) forms.push({ ...f, key, address: who.page.url() });
    }
  });
  forms.sort((a, b) => a.asks - b.asks); // forms that delete or end something come last
  who.muted = true; // the browser reports a rejected form as an error
  for (const f of forms) {
    for (const honest of f.asks ? [true] : [false, true, true]) {
      const text = job.payloads[sent % job.payloads.length];
      const answer = await open(who, f.address);
      const form = who.page.locator("main form").nth(f.n);
      if (!answer || answer.status() !== 200 || (await form.count()) === 0) continue; // an earlier form removed it
      await fill(form, text, honest, sent++);
      const came = who.page.waitForNavigation({ waitUntil: "load" });
      await form.evaluate((e) => { delete e.dataset.upload; HTMLFormElement.prototype.submit.call(e); });
      const status = (await came)?.status() ?? 0;
      if (status >= 500) blame({ role: role.name, page: f.key }, "answered " + status);
      if (status < 400) kept++;
      await look(who);
    }
  }
  await who.context.close();
  say({ role: role.name, pages: seen, note: `${forms.length} forms: ${forms.map((f) => f.key).join(" ")}` });
}

await run(async (browser) => {
  for (const role of job.storm) await storm(browser, role);
  for (const look1 of job.looks) {
    for (const role of job.roles) {
      const who = await visitor(browser, role, look1);
      const seen = await crawl(who, async () => {
        await look(who);
        const link = who.page.locator("a[data-dialog]").filter({ visible: true }).first();
        if ((await link.count()) === 0) return;
        await link.click();
        await who.page.locator("dialog[open]").waitFor();
        await look(who);
      });
      say({ role: role.name, look: look1, pages: seen });
      await who.context.close();
    }
  }
  say({ note: `${sent} forms sent, ${kept} of them accepted; ${shown} of ${pages} pages show hostile text` });
  if (shown < 10) blame({}, `only ${shown} pages show hostile text: this proves nothing`);
  if (kept < 3) blame({}, `only ${kept} forms were accepted: this proves nothing`);
});
