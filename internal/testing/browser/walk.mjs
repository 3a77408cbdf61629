// Goes from the link of an invitation to an API key, as a first-time visitor does,
// and counts the actions and the time that it takes. Job: base, link, name, email,
// password, scripts (false for a browser without scripts), live (true for a live key,
// which needs two-factor authentication first), pictures (a folder for screenshots;
// none if it is missing).
import { createHmac } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { blame, job, run, say, visitor } from "./lib.mjs";

// The pace of a visitor who does not hurry: seconds for a click or a key, for a
// typed character, and for reading a page.
const pace = { act: 2, type: 0.15, read: 3 };

// codeAt is the code that an authenticator app shows for a key, in so many steps of
// 30 seconds (RFC 6238).
const codeAt = (key, steps) => {
  const bits = [...key.replace(/[^A-Z2-7]/g, "")].map((c) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0")).join("");
  const bytes = Buffer.from(bits.match(/.{8}/g).map((b) => parseInt(b, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30000) + steps));
  const mac = createHmac("sha1", bytes).update(counter).digest();
  const at = mac[19] & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1000000).padStart(6, "0");
};

await run(async (browser) => {
  const { context, page } = await visitor(browser, { name: "guest" }, "desktop light", { javaScriptEnabled: job.scripts });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: job.base });
  let acts = 0, seconds = 0;
  const steps = [];
  const act = async (what, does, typed = 0) => {
    acts++;
    seconds += pace.act + typed * pace.type;
    steps.push(what);
    await does();
  };
  const read = async (title) => {
    seconds += pace.read;
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    await picture(title);
  };
  const picture = async (name) => {
    if (!job.pictures || !job.scripts) return;
    mkdirSync(job.pictures, { recursive: true });
    const height = await page.evaluate(() => Math.min(Math.max(document.querySelector("main").scrollHeight + 40, 480), 900));
    await page.screenshot({ path: join(job.pictures, name.toLowerCase().replaceAll(" ", "-") + ".png"), clip: { x: 0, y: 0, width: 1280, height }, fullPage: true });
  };
  const fill = (label, value) => act("fill " + label, () => page.getByLabel(label).fill(value), value.length);
  const press = (role, name) => act("press " + name, () => page.getByRole(role, { name, exact: true }).filter({ visible: true }).first().click());

  seconds += pace.read; // the e-mail
  await act("open the link", () => page.goto(job.link));
  await read("Welcome");
  if (!job.scripts) await act("paste the code", () => page.getByLabel("Code from the e-mail").fill(job.link.split("#")[1]));
  if (job.scripts && page.url().includes("#")) blame({}, "the code of the link is still in the address");
  await fill("Your name", job.name);
  await fill("Choose a password", job.password);
  await press("button", "Activate account");
  await read("Home");
  await press("link", "API settings");
  await read("API settings");
  await press("link", "Generate key");
  await read("New key");
  let shared = "";
  if (job.live) {
    await press("button", "Set up two-factor authentication");
    await read("Set up two-factor authentication");
    shared = (await page.locator("#code-key").textContent()).trim();
    seconds += pace.read; // the QR code in the app
    await fill("Code from the authenticator app", codeAt(shared, 0));
    await press("button", "Turn on");
    await read("Recovery codes");
    await press("link", "Generate key");
    await read("New key");
  }
  await fill("Application name", "fraud desk");
  if (job.live) await act("choose Live", () => page.getByLabel("Live").check());
  await press("button", "Generate key");
  await read("Your new key");
  let key;
  if (job.scripts) {
    await press("button", "Copy API key");
    key = await page.evaluate(() => navigator.clipboard.readText());
  } else {
    const shown = page.getByLabel("API key");
    await act("mark the key", () => shown.click({ clickCount: 3 }));
    await act("copy it", () => page.keyboard.press("Control+C"));
    key = (await shown.textContent()).trim();
  }
  if (job.pictures) { // for the tutorial
    await page.getByRole("button", { name: "Verify a test number" }).click();
    await page.getByText("200 OK").first().waitFor();
    await picture("answer");
    await page.goto(job.base + "/portal/guide/answers");
    await picture("guide");
  }
  // Signing in again is not counted, but must work.
  await page.getByRole("button", { name: "Sign out" }).filter({ visible: true }).click();
  await page.getByLabel("E-mail address").fill(job.email);
  await page.getByLabel("Password").fill(job.password);
  await page.keyboard.press("Enter");
  if (job.live) {
    await page.getByLabel("Code").fill(codeAt(shared, 1)); // the code of this step is used up
    await page.keyboard.press("Enter");
  }
  await page.getByRole("link", { name: "API settings" }).filter({ visible: true }).first().click();
  await page.getByRole("link", { name: "fraud desk" }).first().waitFor();
  say({ walk: (job.live ? "live key " : "test key ") + (job.scripts ? "with scripts" : "without scripts"), acts, seconds: Math.round(seconds * 10) / 10, steps, key });
});
