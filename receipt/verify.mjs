// Verifies receipts of Lineproof (docs/reference/receipt.md) without a network: await verify(text, policy)
// returns what is proven, or throws Refused. The policy is the public key of the log or a
// c2sp.org/tlog-policy, from somebody you trust.

const words = {
  policy: 'this is not a policy, nor the public key of a log',
  format: 'this is not a receipt that this version can read',
  promise: 'it is a promise and not yet a proof',
  record: 'the record is not in the canonical encoding',
  batch: 'the record is not in the batch',
  proof: 'the proof is not in the form c2sp.org/tlog-proof@v1',
  checkpoint: 'the checkpoint is not signed by the key of the log, or a signature is wrong',
  quorum: 'too few witnesses have seen the checkpoint',
  log: 'the batch is not in the log',
}

export class Refused extends Error {
  constructor(code) { super(words[code]); this.code = code }
}

const must = (ok, code) => { if (!ok) throw new Refused(code) }
const utf8 = new TextEncoder()
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest('SHA-256', join(parts)))
const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i])
const hex = (b) => Array.from(b, (x) => x.toString(16).padStart(2, '0')).join('')

const join = (parts) => new Uint8Array(parts.flatMap((p) => [...p]))

// Only one spelling of base64 is read.
function bytes(text, code, length) {
  must(typeof text === 'string' && /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0, code)
  const raw = atob(text)
  must(btoa(raw) === text && (length === undefined || raw.length === length), code)
  return Uint8Array.from(raw, (c) => c.charCodeAt(0))
}

function number(text, code) {
  must(/^(0|[1-9][0-9]{0,15})$/.test(text) && Number.isSafeInteger(Number(text)), code)
  return Number(text)
}

// Big-endian, of so many bytes.
function be(n, size) {
  const b = new Uint8Array(size)
  for (let i = size - 1; i >= 0; i--) { b[i] = n % 256; n = Math.floor(n / 256) }
  return b
}

function fromBE(b, code) {
  const n = b.reduce((n, x) => n * 256 + x, 0)
  must(Number.isSafeInteger(n), code)
  return n
}

// Reads fields, each of which has its length before it.
class Fields {
  constructor(part, name) {
    this.rest = part
    must(same(this.take(name.length), utf8.encode(name)), 'record')
  }
  take(n) {
    must(this.rest.length >= n, 'record')
    const b = this.rest.subarray(0, n)
    this.rest = this.rest.subarray(n)
    return b
  }
  bytes(length) {
    const n = fromBE(this.take(4))
    must(length === undefined || n === length, 'record')
    return this.take(n)
  }
  text() {
    try { return strict.decode(this.bytes()) } catch { must(false, 'record') }
  }
  number() { return fromBE(this.bytes(8), 'record') }
  id() { return hex(this.bytes(16)).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') }
}

// Returns the record and its hash.
async function readRecord(pub, personal, personalHash) {
  const f = new Fields(pub, 'lineproof record 1\n')
  const rec = { requestId: f.id(), at: f.number(), type: f.text(), entity: f.id(), key: f.id() }
  for (const name of ['mode', 'purpose', 'purposeText', 'status', 'reason', 'mobileNetwork']) rec[name] = f.text()
  for (const name of ['lineVersion', 'policyVersion', 'planVersion', 'rules']) rec[name] = f.number()
  rec.coverage = hex(f.bytes())
  must(f.rest.length === 0 && !personal !== !personalHash, 'record')
  rec.erased = !personal
  if (personal) {
    const p = new Fields(personal, 'lineproof personal part 1\n')
    rec.number = p.number()
    for (const name of ['phoneNumber', 'correlator', 'externalId', 'onBehalfOf', 'options', 'extra']) rec[name] = p.text()
    must(p.rest.length === 16, 'record')
    personalHash = await sha256(personal)
  }
  must(personalHash.length === 32, 'record')
  return { rec, hash: await sha256(pub, personalHash) }
}

// Whether a path leads from a leaf to the root (RFC 9162).
async function leads(leaf, index, size, path, root) {
  if (index >= size) return false
  let hash = await sha256([0], leaf)
  let fn = index
  let sn = size - 1
  const half = () => { fn = Math.floor(fn / 2); sn = Math.floor(sn / 2) }
  for (const p of path) {
    if (sn === 0) return false
    if (fn % 2 === 1 || fn === sn) {
      hash = await sha256([1], p, hash)
      while (fn % 2 === 0 && fn !== 0) half()
    } else {
      hash = await sha256([1], hash, p)
    }
    half()
  }
  return sn === 0 && same(hash, root)
}

// A public key: name, id and key. The algorithm is 1 of a log and 4 of a witness.
async function readKey(text, algorithm) {
  const m = /^([!-*,-~]+)\+([0-9a-f]{8})\+(.*)$/.exec(text)
  must(m, 'policy')
  const raw = bytes(m[3], 'policy', 33)
  const id = hex((await sha256(utf8.encode(m[1] + '\n'), raw)).subarray(0, 4))
  must(raw[0] === algorithm && id === m[2], 'policy')
  return { name: m[1], id: m[1] + ' ' + id, key: await crypto.subtle.importKey('raw', raw.subarray(1), 'Ed25519', false, ['verify']) }
}

async function readPolicy(text) {
  if (!/\s/.test(text.trim())) text = 'log ' + text.trim() + '\nquorum none'
  const keys = new Map() // by name and id
  const met = new Map() // witnesses and groups: whether they have signed
  const why = 'policy'
  let log, quorum
  for (const line of text.split('\n')) {
    const [kind, name, what, ...more] = line.split(/[ \t\r]+/).filter((x) => x)
    if (!kind || kind.startsWith('#')) continue
    const fresh = name !== 'none' && !met.has(name)
    if (kind === 'log' && name && !log && !more.length) {
      log = await readKey(name, 1)
    } else if (kind === 'witness' && what && more.length < 2 && fresh) {
      const k = await readKey(what, 4)
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
async function openCheckpoint(note, policy) {
  const why = 'checkpoint'
  const end = note.lastIndexOf('\n\n')
  must(end >= 0 && note.endsWith('\n') && !/[\0-\x09\x0b-\x1f]/.test(note), why)
  const text = note.slice(0, end + 1)
  const lines = note.slice(end + 2, -1).split('\n')
  must(lines.length <= 100, why)
  const signed = new Set()
  const witnessed = Object.create(null)
  for (const line of lines) {
    const m = /^\u2014 ([!-*,-~]+) ([^ ]+)$/.exec(line)
    must(m, why)
    const sig = bytes(m[2], why)
    const id = m[1] + ' ' + hex(sig.subarray(0, 4))
    must(sig.length > 4 && !signed.has(id), why)
    signed.add(id)
    const k = policy.keys.get(id)
    if (!k) continue
    let what = text
    if (k.witness) {
      witnessed[k.witness] = fromBE(sig.subarray(4, 12), why)
      what = `cosignature/v1\ntime ${witnessed[k.witness]}\n${text}`
    }
    must(await crypto.subtle.verify('Ed25519', k.key, sig.subarray(k.witness ? 12 : 4), utf8.encode(what)), why)
  }
  must(signed.has(policy.log.id), why)
  must(policy.quorum(witnessed), 'quorum')
  const [origin, size, root, rest] = text.split('\n')
  must(origin === policy.log.name && rest !== undefined, why)
  return { size: number(size, why), root: bytes(root, why, 32), witnessed }
}

const object = (o, needs, may = []) => must(o && typeof o === 'object' && needs.every((m) => Object.hasOwn(o, m)) && Object.keys(o).every((m) => needs.includes(m) || may.includes(m)), 'format')

export async function verify(text, policy) {
  const whom = await readPolicy(policy)
  let r
  const why = 'format'
  try { r = JSON.parse(text) } catch { must(false, why) }
  // Outside of strings there are only numbers, in one spelling.
  must(utf8.encode(text).length <= 1 << 20 && !/[^\s{}[\],:0-9]/.test(text.replace(/"(\\.|[^"\\])*"/g, '')), why)
  const texts = ['promise', 'key', 'proof']
  object(r, ['form', 'statement', 'public', 'batch'], ['personal', 'personalHash', ...texts])
  const b = r.batch
  object(b, ['epoch', 'n', 'at', 'count', 'index', 'path', 'root'])
  must(r.form === 'lineproof receipt 1' && typeof r.statement === 'string' && Array.isArray(b.path), why)
  must(texts.every((m) => !(m in r) || typeof r[m] === 'string') && !r.promise === !r.key && !r.promise !== !r.proof, why)
  must([b.epoch, b.n, b.at, b.count, b.index].every(Number.isSafeInteger) && b.count < 2 ** 31, why)
  const [pub, personal, personalHash] = ['public', 'personal', 'personalHash'].map((m) => r[m] === undefined ? undefined : bytes(r[m], why))
  const root = bytes(b.root, why)
  const path = b.path.map((p) => bytes(p, why))
  must(r.proof, 'promise')

  const { rec, hash } = await readRecord(pub, personal, personalHash)
  must(b.at === rec.at && root.length === 32 && path.every((p) => p.length === 32) && await leads(hash, b.index, b.count, path, root), 'batch')

  const [head, ...rest] = r.proof.split('\n\n')
  const [name, at, ...hashes] = head.split('\n')
  must(name === 'c2sp.org/tlog-proof@v1' && at?.startsWith('index ') && rest.length > 0, 'proof')
  const index = number(at.slice(6), 'proof')
  const way = hashes.map((p) => bytes(p, 'proof', 32))
  const tree = await openCheckpoint(rest.join('\n\n'), whom)
  const entry = join([utf8.encode('lineproof log entry 1\n'), [1], be(b.at, 8), be(b.epoch, 8), be(b.n, 8), be(b.count, 4), root])
  must(await leads(entry, index, tree.size, way, tree.root), 'log')
  return { ...rec, origin: whom.log.name, index, size: tree.size, witnessed: tree.witnessed }
}
