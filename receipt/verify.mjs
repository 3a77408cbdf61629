// Verifies receipts of Lineproof with nothing but this file: in a browser, with the network
// switched off, or in Node. See docs/reference/receipt.md.
//
//   const proven = await verify(text, key)   // throws unless the receipt is right
//
// The key is the public key of the log, from somebody you trust.

const utf8 = new TextEncoder()
const fail = (why) => { throw new Error(why) }
const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest('SHA-256', join(parts)))

function join(parts) {
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0))
  let at = 0
  for (const p of parts) { all.set(p, at); at += p.length }
  return all
}

const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i])

// Only one spelling of base64 is read: what it decodes to must be written like that.
function bytes(text, length) {
  if (typeof text !== 'string') fail('a value is not base64')
  let raw
  try { raw = atob(text) } catch { fail('a value is not base64') }
  if (btoa(raw) !== text) fail('a value is not base64')
  const b = Uint8Array.from(raw, (c) => c.charCodeAt(0))
  if (length !== undefined && b.length !== length) fail('a value has the wrong length')
  return b
}

function int(text) {
  if (!/^(0|[1-9][0-9]{0,15})$/.test(text)) fail('a number is not in its only spelling')
  return Number(text)
}

// Big-endian, of so many bytes.
function be(n, size) {
  if (!Number.isSafeInteger(n) || n < 0) fail('a number is out of range')
  const b = new Uint8Array(size)
  for (let i = size - 1; i >= 0; i--) { b[i] = n % 256; n = Math.floor(n / 256) }
  return b
}

// Reads fields, each of which has its length before it.
class Fields {
  constructor(part, name) {
    this.part = part
    this.at = utf8.encode(name).length
    if (!same(part.subarray(0, this.at), utf8.encode(name))) fail('the record is not in the canonical encoding')
  }
  bytes(length) {
    const v = new DataView(this.part.buffer, this.part.byteOffset, this.part.byteLength)
    if (this.at + 4 > this.part.length) fail('the record is not in the canonical encoding')
    const n = v.getUint32(this.at)
    const b = this.part.subarray(this.at + 4, this.at + 4 + n)
    if (b.length !== n || (length !== undefined && n !== length)) fail('the record is not in the canonical encoding')
    this.at += 4 + n
    return b
  }
  text() { return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.bytes()) }
  number() {
    const b = this.bytes(8)
    return Number(new DataView(b.buffer, b.byteOffset, 8).getBigInt64(0))
  }
  id() {
    const h = Array.from(this.bytes(16), (x) => x.toString(16).padStart(2, '0')).join('')
    return [h.slice(0, 8), h.slice(8, 12), h.slice(12, 16), h.slice(16, 20), h.slice(20)].join('-')
  }
  end(left) { if (this.part.length - this.at !== left) fail('the record is not in the canonical encoding') }
}

// Decodes both parts of the record, and returns it with its hash.
async function readRecord(r) {
  const pub = bytes(r.public)
  const f = new Fields(pub, 'lineproof record 1\n')
  const rec = { requestId: f.id(), at: f.number(), type: f.text(), entity: f.id(), key: f.id() }
  for (const name of ['mode', 'purpose', 'purposeText', 'status', 'reason', 'mobileNetwork']) rec[name] = f.text()
  for (const name of ['lineVersion', 'policyVersion', 'planVersion', 'rules']) rec[name] = f.number()
  rec.coverage = f.bytes()
  f.end(0)
  if ((r.personal === undefined) === (r.personalHash === undefined)) fail('the record is not in the canonical encoding')
  rec.erased = r.personal === undefined
  let inner
  if (rec.erased) {
    inner = bytes(r.personalHash, 32)
  } else {
    const personal = bytes(r.personal)
    const p = new Fields(personal, 'lineproof personal part 1\n')
    rec.number = p.number()
    for (const name of ['phoneNumber', 'correlator', 'externalId', 'onBehalfOf', 'options', 'extra']) rec[name] = p.text()
    p.end(16)
    inner = await sha256(personal)
  }
  return { rec, hash: await sha256(pub, inner) }
}

// The root to which a path leads from a leaf (RFC 9162, section 2.1.3.2).
async function rootOf(leaf, index, size, path) {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) fail('an index is out of range')
  let hash = await sha256([0], leaf)
  let fn = index
  let sn = size - 1
  for (const p of path) {
    if (sn === 0) fail('a path is too long')
    if (fn % 2 === 1 || fn === sn) {
      hash = await sha256([1], p, hash)
      while (fn % 2 === 0 && fn !== 0) { fn /= 2; sn = Math.floor(sn / 2) }
    } else {
      hash = await sha256([1], hash, p)
    }
    fn = Math.floor(fn / 2)
    sn = Math.floor(sn / 2)
  }
  if (sn !== 0) fail('a path is too short')
  return hash
}

// The public key of a log: its name, the id of the key, and the key.
async function readKey(key) {
  const m = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(key.trim())
  if (!m) fail('this is not the public key of a log')
  const raw = bytes(m[3], 33)
  const id = (await sha256(utf8.encode(m[1] + '\n'), raw)).subarray(0, 4)
  if (raw[0] !== 1 || Array.from(id, (x) => x.toString(16).padStart(2, '0')).join('') !== m[2]) fail('this is not the public key of a log')
  return { name: m[1], id, key: await crypto.subtle.importKey('raw', raw.subarray(1), { name: 'Ed25519' }, false, ['verify']) }
}

// Verifies the signature of the log on a checkpoint. Signatures of other keys are ignored.
async function openCheckpoint(note, log) {
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) fail('the checkpoint is not signed by the key of the log')
  const text = note.slice(0, end + 1)
  let signed = false
  for (const line of note.slice(end + 2, -1).split('\n')) {
    const m = /^\u2014 ([^ +]+) ([A-Za-z0-9+/=]+)$/.exec(line)
    if (!m) fail('the checkpoint has a line that is no signature')
    const sig = bytes(m[2])
    if (m[1] !== log.name || !same(sig.subarray(0, 4), log.id)) continue
    if (signed || !(await crypto.subtle.verify('Ed25519', log.key, sig.subarray(4), utf8.encode(text)))) fail('the checkpoint is not signed by the key of the log')
    signed = true
  }
  const lines = text.split('\n')
  if (!signed || lines[0] !== log.name || lines.length < 4) fail('the checkpoint is not signed by the key of the log')
  return { size: int(lines[1]), root: bytes(lines[2], 32) }
}

const members = (o, must, may = []) => {
  if (typeof o !== 'object' || o === null || must.some((m) => !(m in o)) || Object.keys(o).some((m) => !must.includes(m) && !may.includes(m))) fail('this is not a receipt that this version can read')
}

export async function verify(text, key) {
  let r
  try { r = JSON.parse(text) } catch { fail('this is not a receipt that this version can read') }
  members(r, ['form', 'statement', 'public', 'batch', 'proof'], ['personal', 'personalHash'])
  members(r.batch, ['epoch', 'n', 'at', 'count', 'index', 'path', 'root'])
  if (r.form !== 'lineproof receipt 1') fail('this is not a receipt that this version can read')
  const log = await readKey(key)
  const { rec, hash } = await readRecord(r)
  const b = r.batch
  const root = bytes(b.root, 32)
  if (b.at !== rec.at || !same(root, await rootOf(hash, b.index, b.count, b.path.map((p) => bytes(p, 32))))) fail('the record is not in the batch')

  const [head, ...rest] = r.proof.split('\n\n')
  const lines = head.split('\n')
  if (lines[0] !== 'c2sp.org/tlog-proof@v1' || !lines[1].startsWith('index ') || rest.length === 0) fail('the proof is not in the form c2sp.org/tlog-proof@v1')
  const index = int(lines[1].slice(6))
  const tree = await openCheckpoint(rest.join('\n\n'), log)
  const entry = join([utf8.encode('lineproof log entry 1\n'), [1], be(b.at, 8), be(b.epoch, 8), be(b.n, 8), be(b.count, 4), root])
  if (!same(tree.root, await rootOf(entry, index, tree.size, lines.slice(2).map((p) => bytes(p, 32))))) fail('the batch is not in the log')
  return { ...rec, origin: log.name, index, size: tree.size }
}
