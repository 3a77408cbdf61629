// Judges a page by the rules of accessibility, with axe.
import { readFileSync } from "node:fs";
import { blame } from "./lib.mjs";

const axe = readFileSync(new URL("./node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const rules = { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"] };

// judge runs axe on the page as it is shown now.
export async function judge(who, what = "") {
  await who.page.evaluate(axe);
  const violations = await who.page.evaluate(async (o) => (await window.axe.run(document, o)).violations, rules);
  for (const v of violations) {
    for (const n of v.nodes.slice(0, 3)) {
      blame({ role: who.role.name, look: who.look, page: who.at }, `${what}${v.id}: ${v.help}: ${n.html.slice(0, 200)} (${n.failureSummary.replace(/\s+/g, " ").slice(0, 300)})`);
    }
  }
}
