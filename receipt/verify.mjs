// await verify(receipt, policy) returns what is proven, or throws Refused with a code. The policy, from
// somebody you trust, is the key of the log or a c2sp.org/tlog-policy. See docs/reference/receipt.md.

export class Refused extends Error {
  constructor(code) { super(code); this.code = code }
}

export const must = (ok, code = 'record') => { if (!ok) throw new Refused(code) }
const utf8 = new TextEncoder()
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const join = (parts) => new Uint8Array(parts.flatMap((p) => [...p]))
const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest('SHA-256', join(parts)))
const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i])
const hex = (b) => Array.from(b, (x) => x.toString(16).padStart(2, '0')).join('')
const entryName = 'lineproof log entry 1\n\x01'
const layout = { at: 8, epoch: 8, n: 8, count: 4 } // of an entry of the log
const numbers = Object.keys(layout)

// Only one spelling of base64 is read.
function bytes(text, code, length) {
  let raw
  try { raw = atob(text) } catch { must(0, code) }
  must(btoa(raw) === text && (length ?? raw.length) === raw.length, code)
  return Uint8Array.from(raw, (c) => c.charCodeAt(0))
}

export const number = (text, code) => safe(/^(0|[1-9][0-9]{0,15})$/.test(text) ? +text : NaN, code)

// Big-endian.
const be = (n, size) => Uint8Array.from({ length: size }, (_, i) => Math.floor(n / 256 ** (size - 1 - i)) % 256)

const safe = (n, code) => { must(Number.isSafeInteger(n), code); return n }
const fromBE = (b, code) => safe(b.reduce((n, x) => n * 256 + x, 0), code)

// Reads fields with their lengths before them.
class Fields {
  constructor(part, name) {
    this.rest = part
    must(same(this.take(name.length), utf8.encode(name)))
  }
  take(n) {
    must(this.rest.length >= n)
    const b = this.rest.subarray(0, n)
    this.rest = this.rest.subarray(n)
    return b
  }
  bytes(length) {
    const n = fromBE(this.take(4))
    must((length ?? n) === n)
    return this.take(n)
  }
  text() {
    try { return strict.decode(this.bytes()) } catch { must(0) }
  }
  number() { return fromBE(this.bytes(8)) }
  id() { return hex(this.bytes(16)).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') }
}

// The record and its hash. Behind the public part is the personal part or its hash.
async function readRecord({ whole, size, erased }) {
  const f = new Fields(whole, 'lineproof record 1\n')
  const rec = { requestId: f.id(), at: f.number(), type: f.text(), entity: f.id(), key: f.id() }
  for (const m of ['mode', 'purpose', 'purposeText', 'status', 'reason', 'mobileNetwork']) rec[m] = f.text()
  for (const m of ['lineVersion', 'policyVersion', 'planVersion', 'rules']) rec[m] = f.number()
  rec.coverage = hex(f.bytes())
  const inner = f.rest
  const pub = whole.subarray(0, whole.length - inner.length)
  rec.erased = inner.length === 32
  must((size ?? pub.length) === pub.length && (erased ?? rec.erased) === rec.erased)
  if (rec.erased) return { rec, hash: await sha256(whole) }
  const p = new Fields(inner, 'lineproof personal part 1\n')
  rec.number = p.number()
  for (const m of ['phoneNumber', 'correlator', 'externalId', 'onBehalfOf', 'options', 'extra']) rec[m] = p.text()
  must(p.rest.length === 16)
  return { rec, hash: await sha256(pub, await sha256(inner)) }
}

// Whether a path leads from a leaf to the root (RFC 9162).
async function leads(leaf, fn, size, path, root) {
  let hash = await sha256([0], leaf)
  let sn = size - 1
  if (fn > sn) return false
  for (const p of path) {
    if (!sn) return false
    for (; fn % 2 === 0 && fn === sn; fn /= 2) sn /= 2
    hash = await (fn % 2 ? sha256([1], p, hash) : sha256([1], hash, p))
    fn = Math.floor(fn / 2)
    sn = Math.floor(sn / 2)
  }
  return !sn && same(hash, root)
}

// Name, id and key. The algorithm is 1 of a log and 4 of a witness.
export async function readKey(text, algorithm, why) {
  const m = /^([!-*,-~]+)\+([0-9a-f]{8})\+(.*)$/.exec(text)
  must(m, why)
  const raw = bytes(m[3], why, 33)
  const id = hex((await sha256(utf8.encode(m[1] + '\n'), raw)).subarray(0, 4))
  must(raw[0] === algorithm && id === m[2], why)
  return { name: m[1], id: m[1] + ' ' + id, key: await crypto.subtle.importKey('raw', raw.subarray(1), 'Ed25519', false, ['verify']) }
}

async function readPolicy(text) {
  if (!/\s/.test(text.trim())) text = `log ${text}\nquorum none`
  const keys = new Map() // by name and id
  const met = new Map() // witnesses and groups: whether they have signed
  const why = 'policy'
  let log, quorum
  for (const line of text.split('\n')) {
    const [kind, name, what, ...more] = line.split(/[ \t\r]+/).filter((x) => x)
    if (!kind || kind.startsWith('#')) continue
    const fresh = name !== 'none' && !met.has(name)
    if (kind === 'log' && name && !log && !more.length) {
      log = await readKey(name, 1, why)
    } else if (kind === 'witness' && what && more.length < 2 && fresh) {
      const k = await readKey(what, 4, why)
      must(!keys.has(k.id), why)
      keys.set(k.id, { ...k, witness: name })
      met.set(name, (seen) => name in seen)
    } else if (kind === 'group' && more.length && fresh) {
      const least = { any: 1, all: more.length }[what] ?? number(what, why)
      must(least > 0 && least <= more.length && new Set(more).size === more.length && more.every((m) => met.has(m)), why)
      met.set(name, (seen) => more.filter((m) => met.get(m)(seen)).length >= least)
    } else {
      must(kind === 'quorum' && name && !what && !quorum && (name === 'none' || met.has(name)), why)
      quorum = met.get(name) ?? (() => true)
    }
  }
  must(log && quorum, why)
  return { log, quorum, keys: keys.set(log.id, log) }
}

// Signatures of unknown keys are ignored.
export async function openNote(note, by, why, keys = new Map([[by.id, by]])) {
  const end = note.lastIndexOf('\n\n')
  must(end >= 0 && note.endsWith('\n') && !/[\0-\x09\x0b-\x1f]/.test(note), why)
  const text = note.slice(0, end + 1)
  const sigs = note.slice(end + 2, -1).split('\n')
  must(sigs.length <= 100, why)
  const signed = new Set()
  const witnessed = Object.create(null)
  for (const line of sigs) {
    const m = /^\u2014 ([!-*,-~]+) ([^ ]+)$/.exec(line)
    must(m, why)
    const sig = bytes(m[2], why)
    const id = m[1] + ' ' + hex(sig.subarray(0, 4))
    must(sig.length > 4 && !signed.has(id), why)
    signed.add(id)
    const k = keys.get(id)
    if (!k) continue
    let what = text
    if (k.witness) {
      const at = witnessed[k.witness] = fromBE(sig.subarray(4, 12), why)
      what = `cosignature/v1\ntime ${at}\n${text}`
    }
    must(await crypto.subtle.verify('Ed25519', k.key, sig.subarray(k.witness ? 12 : 4), utf8.encode(what)), why)
  }
  must(signed.has(by.id), why)
  return { text, lines: text.split('\n'), witnessed }
}

function fromTlogProof(text, why) {
  const m = /^c2sp\.org\/tlog-proof@v1\nextra (.*)\n/.exec(text)
  must(m, why)
  const f = new Fields(bytes(m[1], why), entryName)
  const b = { path: [] }
  for (const m in layout) b[m] = fromBE(f.take(layout[m]))
  b.root = f.take(32)
  let fn = b.index = fromBE(f.take(4))
  let sn = b.count - 1
  must(fn <= sn && b.count < 2 ** 31)
  for (; sn; fn >>= 1, sn >>= 1) if (fn % 2 || fn < sn) b.path.push(f.take(32))
  return { b, whole: f.rest, proof: text.replace(/extra .*\n/, '') }
}

const object = (o, needs, may = []) => must(o && needs.every((m) => Object.hasOwn(o, m)) && Object.keys(o).every((m) => [...needs, ...may].includes(m)), 'format')

function fromJSON(text, why) {
  let r
  try { r = JSON.parse(text) } catch { must(0, why) }
  // Outside of strings are only numbers, in one spelling, and a colon for each member: none stands twice.
  const bare = text.replace(/"(\\.|[^"\\])*"/g, '')
  const texts = ['promise', 'key', 'proof']
  object(r, ['form', 'statement', 'public', 'batch'], ['personal', 'personalHash', ...texts])
  const b = r.batch
  object(b, [...numbers, 'index', 'path', 'root'])
  must(r.form === 'lineproof receipt 1' && !/[^\s{}[\],:0-9]/.test(bare) && bare.split(':').length === 1 + Object.keys({ ...r, ...b }).length
    && ['statement', ...texts].every((m) => typeof (r[m] ?? '') === 'string') && !r.promise === !r.key && !r.promise !== !r.proof
    && [...numbers, 'index'].every((m) => Number.isSafeInteger(b[m])) && b.count < 2 ** 31 && Array.isArray(b.path), why)
  const [pub, ...parts] = ['public', 'personal', 'personalHash'].filter((m) => m in r).map((m) => bytes(r[m], why))
  b.root = bytes(b.root, why)
  b.path = b.path.map((p) => bytes(p, why))
  return { ...r, b, whole: join([pub, ...parts]), size: parts[1] ? -1 : pub.length, erased: !r.personal }
}

export async function read(text, policy, code) {
  const whom = await readPolicy(policy)
  must(utf8.encode(text).length <= 1 << 20, 'format')
  const r = (text[0] === 'c' ? fromTlogProof : fromJSON)(text, 'format')
  must(r.proof || !code, code)
  const { rec, hash } = await readRecord(r)
  const { b } = r
  must(b.at === rec.at && [b.root, ...b.path].every((p) => p.length === 32) && await leads(hash, b.index, b.count, b.path, b.root), 'batch')
  return { r, rec, whom, entry: join([utf8.encode(entryName), ...numbers.map((m) => be(b[m], layout[m])), b.root]) }
}

export async function verify(text, policy) {
  const { r, rec, whom, entry } = await read(text, policy, 'promise')
  const m = /^c2sp\.org\/tlog-proof@v1\nindex (.*)((?:\n.+)*)\n\n([^]*)$/.exec(r.proof)
  must(m, 'proof')
  const index = number(m[1], 'proof')
  const path = m[2].split('\n').slice(1).map((p) => bytes(p, 'proof', 32))
  const why = 'checkpoint'
  const { lines: [origin, n, root, more], witnessed } = await openNote(m[3], whom.log, why, whom.keys)
  must(whom.quorum(witnessed), 'quorum')
  must(origin === whom.log.name && more !== undefined, why)
  const size = number(n, why)
  must(await leads(entry, index, size, path, bytes(root, why, 32)), 'log')
  return { ...rec, origin, index, size, witnessed }
}
