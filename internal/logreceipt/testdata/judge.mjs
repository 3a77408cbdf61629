// Judges receipts: one JSON object per line on standard input, with text and key; one line of
// output for each, the proven answer or the word refused.
import { createInterface } from 'node:readline'
import { webcrypto } from 'node:crypto'
globalThis.crypto ??= webcrypto
const { verify } = await import('../../../receipt/verify.mjs')

for await (const line of createInterface({ input: process.stdin })) {
  const { text, key } = JSON.parse(line)
  try {
    const p = await verify(text, key)
    console.log([p.requestId, p.status, p.number, p.index, p.size].join(' '))
  } catch (e) {
    console.log('refused')
  }
}
