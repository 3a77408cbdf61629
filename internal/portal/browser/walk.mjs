// Goes from the link of an invitation to an API key, as a first-time visitor does,
// and counts the actions and the time that it takes. Job: base, link, name, email,
// password, scripts (false for a browser without scripts), pictures (a folder for
// screenshots; none if it is missing).
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { blame, job, run, say, visitor } from "./lib.mjs";

// The pace of a visitor who does not hurry: seconds for a click or a key, for a
// typed character, and for reading a page.
const pace = { act: 2, type: 0.15, read: 3 };

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
  await read("Overview");
  await press("link", "API settings");
  await read("API settings");
  await press("link", "Generate key");
  await read("New key");
  await fill("Application name", "fraud desk");
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
  await page.getByRole("link", { name: "API settings" }).filter({ visible: true }).first().click();
  await page.getByRole("link", { name: "fraud desk" }).first().waitFor();
  say({ walk: job.scripts ? "with scripts" : "without scripts", acts, seconds: Math.round(seconds * 10) / 10, steps, key });
});
