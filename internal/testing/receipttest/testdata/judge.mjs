// Judges receipts: one JSON object per line on standard input, with text and policy; one line
// of output for each, the proven facts or why it was refused.
import { createInterface } from 'node:readline'
import { webcrypto } from 'node:crypto'
globalThis.crypto ??= webcrypto
const { verify, Refused } = await import('../../../../receipt/verify.mjs')
const { verifyPromise } = await import('../../../../receipt/promise.mjs')

for await (const line of createInterface({ input: process.stdin })) {
  const { text, policy, promise } = JSON.parse(line)
  try {
    console.log(JSON.stringify(await (promise ? verifyPromise : verify)(text, policy)))
  } catch (e) {
    console.log(JSON.stringify({ refused: e instanceof Refused ? e.code : String(e.stack) }))
  }
}
