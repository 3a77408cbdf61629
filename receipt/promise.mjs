// Verifies receipts that came with an answer, before there is a proof: await verifyPromise(text, policy)
// returns what the log has promised to have, and until when, or throws Refused.

import { must, number, openNote, read, readKey } from './verify.mjs'

// The promise is not signed for this answer by a key that the log certified, or a signature is wrong.
const why = 'unpromised'

export async function verifyPromise(text, policy) {
  const { r, rec, whom, entry } = await read(text, policy)
  must(r.promise, why)
  const origin = whom.log.name
  const { lines } = await openNote(r.key, whom.log, why)
  const key = await readKey(lines[3], 1, why)
  must(lines.length === 7 && lines.slice(0, 3).join() === `lineproof key 1,${origin},promise` && key.name === origin + '/promise', why)
  must(number(lines[4], why) <= rec.at && rec.at <= number(lines[5], why), why)
  const promise = await openNote(r.promise, key, why)
  must(promise.text === `lineproof promise 1\n${origin}\n${btoa(String.fromCharCode(...entry))}\n60\n`, why)
  return { ...rec, origin, until: rec.at + 60000 }
}
