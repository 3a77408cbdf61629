// The page that verifies receipts: what the modules before this text prove, in words. It
// sends nothing, and nothing here turns text into HTML.
const form = document.querySelector("form[data-receipt]");
const place = document.getElementById("verified");
const [textField, policyField, fileField] = ["receipt", "policy", "file"].map((name) => form.elements[name]);

// What to say about a receipt that is refused, by the code of the refusal.
const refusals = {
  policy: ["The key can't be read", "Enter the public key of the log, or a policy, exactly as you got it from the owner of the log."],
  format: ["This is not a receipt", "The text is not a complete receipt. Choose the file as you received it; do not retype or reformat it."],
  unpromised: ["This promise is not genuine", "It is not signed for this answer by a key that the log certified. Either it was changed, or the key is that of another log. It promises nothing."],
  record: ["This receipt is damaged", "The record in it can't be read. It proves nothing. Ask for the file again."],
  batch: ["This receipt was changed", "What it says is not what was recorded: it was changed, or put together from several receipts. It proves nothing."],
  proof: ["This receipt is damaged", "The part that leads to the public log can't be read. It proves nothing. Ask for the file again."],
  checkpoint: ["The signature is wrong", "The receipt is not signed with the key that you entered. Either it was changed, or the key is that of another log. It proves nothing."],
  quorum: ["Too few witnesses", "The log has signed the receipt, but fewer witnesses have confirmed it than your policy asks for. Ask for the receipt again: a later one may have more."],
  log: ["This answer is not in the public log", "The log has signed a list that does not contain this answer. It proves nothing."],
};

const make = (tag, name, ...content) => {
  const e = document.createElement(tag);
  if (name) e.className = name;
  e.append(...content);
  return e;
};

const clock = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "long" });
const when = (ms) => make("span", "two", clock.format(ms), make("span", "faint", new Date(ms).toISOString()));
const mono = (text) => make("code", "mono", text);
const auto = (text) => Object.assign(make("span", "", text), { dir: "auto" });

// Receipts of supplied files are verified by the command only.
const ofFile = /^\s*\{\s*"form"\s*:\s*"lineproof supply receipt 1"|^c2sp\.org\/tlog-proof@v1\nextra bGluZXByb29mIGxvZyBlbnRyeSAxCgI/;

// note shows a judgement, and moves to it.
function note(tone, title, ...rest) {
  const head = Object.assign(make("h2", "note-title", title), { tabIndex: -1 });
  const all = make("div", "note tone-" + tone, head, ...rest.map((p) => (typeof p === "string" ? make("p", "", p) : p)));
  place.replaceChildren(all);
  return head;
}

// terms is a list of what was proven; what is empty is left out.
function terms(rows) {
  return make("dl", "terms", ...rows.filter((r) => r[1]).map(([label, value]) => make("div", "", make("dt", "", label), make("dd", "", value))));
}

function witnesses(p) {
  const all = Object.entries(p.witnessed).sort((a, b) => a[1] - b[1]);
  if (all.length === 0) return "None. The log has signed the receipt itself; nobody else of whom your key or policy knows has confirmed it.";
  return make("span", "two", ...all.map(([name, at]) => make("span", "", name + ", " + clock.format(at * 1000))));
}

function since(p) {
  const all = Object.values(p.witnessed);
  return all.length > 0 && make("span", "two", when(Math.min(...all) * 1000), make("span", "faint", "Since then the answer can't have been changed or dated back without the witnesses' help."));
}

// answered says in one sentence what was answered.
const answered = (p) => `${clock.format(p.at)}: the organisation below asked about ${p.erased ? "a number that was erased since" : "+" + p.number}, and the answer was ${p.status}.`;
const identity = "The answer states what suppliers had reported by then. It is no certificate of identity.";

function accepted(p, ms) {
  const head = note("good", "This receipt is genuine", answered(p), identity);
  details("What it proves", p, ms, [
    ["Public log", make("span", "two", mono(p.origin), make("span", "faint", `entry ${p.index + 1} of ${p.size}`))],
    ["Confirmed by witnesses", witnesses(p)],
    ["Proven since", since(p)],
  ]);
  return head;
}

// promised shows a receipt that came with an answer, before the log had it.
function promised(p, ms) {
  const late = Date.now() > p.until;
  const head = note("warn", "This promise is genuine, and not yet a proof", answered(p),
    "It proves that the service gave this answer and promised in writing that the public log will have it. It does not prove that the log has it: nobody else has seen it yet.",
    late ? "The time of the promise is over. Ask the service for the receipt of this answer. If it has none, and the log does not have the answer, this promise shows to anybody that the log broke its word."
      : "Ask the service for the receipt of this answer, which is there about a second after the answer, and keep this promise until you have it.",
    identity);
  details("What it promises", p, ms, [
    ["Public log", mono(p.origin)],
    ["Will have it by", when(p.until)],
    ["Confirmed by witnesses", "Not yet. Witnesses confirm what the log has."],
  ]);
  return head;
}

// details lists everything that a receipt says. That it was a test stands before the judgement, which names the answer.
function details(title, p, ms, more) {
  if (p.mode !== "live") place.prepend(make("div", "note tone-warn", make("p", "note-title", "This was a test"), make("p", "", "The request was made with a test key. The answer is not about a real line.")));
  const card = make("section", "card", make("h2", "", title), terms([
    ["Asked by", make("span", "two", mono(p.entity), make("span", "faint", "API key ", mono(p.key)))],
    ["For the purpose", auto([p.purpose, p.purposeText].filter((x) => x).join(": "))],
    ["On behalf of", p.onBehalfOf && auto(p.onBehalfOf)],
    ["Asked about", p.erased ? "The number was erased by law. Everything else is still proven." : make("span", "two", "+" + p.number, make("span", "faint", "sent as ", auto(p.phoneNumber)))],
    ["Whether it changed since", /^since=(\S*)/.exec(p.options)?.[1]],
    ["Answered at", when(p.at)],
    ["Answer", p.status + (p.reason ? ` (${p.reason})` : "")],
    ["Network", auto(p.mobileNetwork)],
    ["More of the answer", p.extra && mono(p.extra)],
    ["Request", mono(p.requestId)],
    ["Reference of the asker", p.externalId && auto(p.externalId)],
    ["Decided by", `version ${p.lineVersion} of the line, ${p.policyVersion} of the policy, ${p.planVersion} of the numbering plan`],
    ...more,
  ]), make("p", "faint", `Verified in ${ms.toFixed(1)} ms in this browser. Nothing was sent.`));
  place.append(card);
}

function refused(e) {
  if (!(e instanceof Refused)) {
    return note("warn", "This browser can't verify receipts", "It does not support signatures with Ed25519. Nothing was proven or refuted: use a current version of Chrome, Edge, Firefox or Safari, or the command lineproof receipt verify.", make("p", "faint", String(e)));
  }
  const [title, text] = refusals[e.code];
  return note("bad", title, text, make("p", "faint", "Reason: " + e.message + "."));
}

// verdict verifies a receipt as a proof, or as a promise if it is one, and shows what it says.
async function verdict(text, policy, began) {
  if (ofFile.test(text)) {
    place.dataset.judged = "file";
    return note("warn", "This is the receipt of a supplied file", "This page verifies receipts of answers. Verify this one with the command lineproof receipt verify. Nothing was proven or refuted.");
  }
  const proven = await verify(text, policy).catch((e) => { if (e.code !== "promise") throw e; });
  if (proven) {
    place.dataset.judged = "genuine";
    return accepted(proven, performance.now() - began);
  }
  const waiting = await verifyPromise(text, policy);
  place.dataset.judged = "promised";
  return promised(waiting, performance.now() - began);
}

async function judge(focus) {
  const began = performance.now();
  let head;
  try {
    head = await verdict(textField.value, policyField.value, began);
  } catch (e) {
    place.dataset.judged = e.code || "unable";
    head = refused(e);
  }
  place.dataset.ms = performance.now() - began;
  if (focus) head.focus();
}

async function take(file) {
  if (!file) return;
  textField.value = await file.text();
  if (policyField.value.trim()) await judge(true);
  else policyField.focus();
}

form.addEventListener("submit", (e) => { e.preventDefault(); judge(true); });
fileField.addEventListener("change", () => take(fileField.files[0]));
form.addEventListener("dragover", (e) => { e.preventDefault(); form.classList.add("dropping"); });
form.addEventListener("dragleave", () => form.classList.remove("dropping"));
form.addEventListener("drop", (e) => { e.preventDefault(); form.classList.remove("dropping"); take(e.dataTransfer.files[0]); });
for (const e of form.querySelectorAll("[hidden]")) e.hidden = false;
if (textField.value.trim() && policyField.value.trim()) judge(false);
