// Verifies receipts with the page that is one file, with the network off, and with the page of
// the portal. Job: base, file (the address of the file), vectors, genuine (how many genuine
// receipts to measure), looks, pictures (a folder; "" for none).
import { blame, job, run, say, visitor } from "./lib.mjs";
import { judge } from "./judge.mjs";
import { tabs } from "./keyboard.mjs";

const wrong = (who, what) => blame({ role: "nobody", look: who.look, page: who.at }, what);

// check verifies one receipt by hand: text, key, button.
async function check(who, v) {
  await who.page.getByLabel("Or its text").fill(v.text);
  await who.page.getByLabel("Public key of the log, or policy").fill(v.policy);
  await who.page.evaluate(() => document.getElementById("verified").removeAttribute("data-ms"));
  await who.page.getByRole("button", { name: "Verify receipt" }).click();
  await who.page.waitForSelector("#verified[data-ms]");
  const got = await who.page.$eval("#verified", (e) => ({ judged: e.dataset.judged, ms: Number(e.dataset.ms), text: e.innerText }));
  const want = v.refused || (v.promise ? "promised" : "genuine");
  const right = got.judged === "file" ? /supplied file|another kind of entry/.test(v.name) : v.refused === "promise" ? got.judged.endsWith("promised") : got.judged === want; // the page sees itself that it has a promise
  if (!right) wrong(who, `${v.name}: it says ${got.judged} and not ${want}`);
  return got;
}

// says checks that a page names everything that a receipt proves.
function says(who, v, text) {
  const p = v.proves;
  const all = [p.entity, p.status, p.origin, p.requestId, p.erased ? "erased by law" : "+" + p.number, new Date(p.at).toISOString(), ...Object.keys(p.witnessed ?? {}), "no certificate of identity"];
  if (p.mode !== "live") all.push("This was a test");
  all.push(p.purpose, p.purposeText);
  if (!p.erased) all.push(p.externalId, p.onBehalfOf, p.extra, /^since=(\S*)/.exec(p.options)?.[1] ?? "");
  if (v.promise) all.push("not yet a proof", "It does not prove that the log has it", new Date(p.until).toISOString());
  for (const one of all) if (!text.includes(one)) wrong(who, `${v.name}: it does not say ${one}`);
}

async function picture(who, name) {
  if (job.pictures) await who.page.screenshot({ path: `${job.pictures}/${name} ${who.look}.png`, fullPage: true });
}

const half = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)];

await run(async (browser) => {
  const good = job.vectors.filter((v) => v.proves && !v.promise), bad = job.vectors.filter((v) => v.refused === "batch");
  const witnessed = good.find((v) => v.name === "two of three witnesses"), promise = job.vectors.find((v) => v.promise && v.proves);
  for (const look of job.looks) {
    for (const address of [job.file, job.base + "/portal/receipts"]) {
      const who = await visitor(browser, { name: "nobody" }, look);
      who.at = address.replace(/.*\//, "");
      who.muted = address.startsWith("file:"); // its own address is not one of the service
      await who.page.goto(address, { waitUntil: "networkidle" });
      who.muted = false;
      await who.context.setOffline(true);
      await judge(who);
      await tabs(who);
      says(who, witnessed, (await check(who, witnessed)).text);
      await judge(who, "genuine: ");
      await tabs(who);
      await picture(who, who.at + " genuine");
      await check(who, bad[0]);
      await judge(who, "refused: ");
      await picture(who, who.at + " refused");
      says(who, promise, (await check(who, promise)).text);
      await judge(who, "promised: ");
      await picture(who, who.at + " promised");
      await who.context.close();
    }
  }
  const who = await visitor(browser, { name: "nobody" }, "desktop light");
  who.muted = true;
  who.at = "verify-receipt.html";
  await who.page.goto(job.file, { waitUntil: "load" });
  who.muted = false;
  await who.context.setOffline(true);
  for (const v of job.vectors) {
    if (v.text.includes("\r") || (v.promise && !v.text.includes('"promise"'))) continue; // a field of a page has no carriage returns, and a proof is not judged as a promise
    const got = await check(who, v);
    if (v.proves) says(who, v, got.text);
  }
  // A file that is chosen is verified at once.
  await who.page.getByLabel("Public key of the log, or policy").fill(witnessed.policy);
  await who.page.evaluate(() => document.getElementById("verified").removeAttribute("data-ms"));
  await who.page.getByLabel("File").setInputFiles({ name: "receipt.json", mimeType: "application/json", buffer: Buffer.from(witnessed.text) });
  await who.page.waitForSelector("#verified[data-ms][data-judged=genuine]");
  const took = [];
  for (let i = 0; i < job.genuine; i++) took.push((await check(who, good[i % good.length])).ms);
  const first = await visitor(browser, { name: "nobody" }, "desktop light");
  first.muted = true;
  await first.page.goto(job.file, { waitUntil: "load" });
  await first.context.setOffline(true);
  const cold = (await check(first, witnessed)).ms;
  say({ note: `a check takes ${half(took).toFixed(1)} ms in the middle, ${Math.max(...took).toFixed(1)} ms at most of ${took.length}, the first of a page ${cold.toFixed(1)} ms`, seconds: half(took) / 1000 });
});
