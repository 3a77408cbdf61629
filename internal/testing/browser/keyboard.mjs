// Checks that everything works with a keyboard alone: Tab reaches every control,
// the focus is visible, and a dialog keeps the focus and returns it when closed.
import { blame } from "./lib.mjs";

const wrong = (who, what) => blame({ role: who.role.name, look: who.look, page: who.at }, what);

// mark finds the controls that Tab must reach, stores their style without focus,
// and records where the focus goes. A radio button represents its group, and the
// browser makes every scrollable element a tab stop of its own.
function mark() {
  const looks = (e) => { const s = getComputedStyle(e); return [s.outlineStyle, s.outlineWidth, s.outlineColor, s.boxShadow].join(); };
  const all = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")].filter((e) =>
    !e.disabled && !e.closest("[inert]") && e.checkVisibility({ visibilityProperty: true }) && !(e.type === "radio" && !e.checked && document.querySelector(`input[type=radio][name="${CSS.escape(e.name)}"]:checked`)));
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  const before = new Map(all.map((e) => [e, looks(e)]));
  const w = window.walked = { all, reached: new Set(), unseen: new Set(), strangers: new Set() };
  w.watch = ({ target: at }) => {
    if (!before.has(at)) {
      if (at.scrollWidth <= at.clientWidth && at.scrollHeight <= at.clientHeight && at.type !== "radio") w.strangers.add(at);
    } else if (!w.reached.has(at) && before.get(at) === looks(at)) w.unseen.add(at);
    for (const e of all) if (e === at || (at.type === "radio" && e.type === "radio" && e.name === at.name)) w.reached.add(e);
  };
  document.addEventListener("focusin", w.watch);
  return all.length;
}

// walked ends the recording and returns the findings.
function walked() {
  const w = window.walked, names = (set) => [...set].map((e) => e.outerHTML.replace(/\s+/g, " ").slice(0, 120));
  document.removeEventListener("focusin", w.watch);
  return { missed: names(w.all.filter((e) => !w.reached.has(e))), unseen: names(w.unseen), strangers: names(w.strangers) };
}

// tabs goes through the page with Tab.
export async function tabs(who) {
  const count = await who.page.evaluate(mark);
  for (let i = 0; i < count + 2; i++) await who.page.keyboard.press("Tab"); // once around, including the browser's own tab stop
  for (let i = 0; i < 40; i++) { // and over scrollable elements and the parts of dates
    if ((await who.page.evaluate(() => window.walked.reached.size)) >= count) break;
    await who.page.keyboard.press("Tab");
  }
  const { missed, unseen, strangers } = await who.page.evaluate(walked);
  for (const e of missed) wrong(who, "Tab does not reach " + e);
  for (const e of unseen) wrong(who, "the focus cannot be seen on " + e);
  for (const e of strangers) wrong(who, "Tab stops at " + e);
}

// dialogs opens the first dialog of the page with Enter and closes it with Escape.
export async function dialogs(who, judge) {
  const link = who.page.locator("a[data-dialog]").filter({ visible: true }).first();
  if ((await link.count()) === 0) return;
  await link.focus();
  await who.page.keyboard.press("Enter");
  const dialog = who.page.locator("dialog[open]");
  await dialog.waitFor();
  if (!(await dialog.evaluate((d) => d.matches(":modal")))) wrong(who, "the dialog is not modal");
  await judge(who, "in the dialog: ");
  const stops = await dialog.locator("a[href], button, input, select, textarea").count();
  for (let i = 0; i < stops + 3; i++) {
    const inside = await who.page.evaluate(() => { const at = document.activeElement; return at === document.body || Boolean(at.closest("dialog")); });
    if (!inside) wrong(who, "the focus leaves the dialog");
    await who.page.keyboard.press("Tab");
  }
  await who.page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  let back = false; // the event that returns the focus comes after the dialog is closed
  for (let i = 0; i < 100 && !back; i++) {
    if (i > 0) await who.page.waitForTimeout(100);
    back = await link.evaluate((e) => e === document.activeElement);
  }
  if (!back) wrong(who, "the focus does not return from the dialog");
}
