// Ids of requests, made at the rate of requests: random bytes are drawn by the thousand, and hex is in the id alphabet.
import { randomFillSync } from 'node:crypto'

const ID_BYTES = 11
const pool = Buffer.alloc(ID_BYTES * 4_096)
let at = pool.length

/** A new request id: `reqr_` and 22 characters. */
export function newRequestId(): string {
  if (at === pool.length) {
    randomFillSync(pool)
    at = 0
  }
  at += ID_BYTES
  return `reqr_${pool.toString('hex', at - ID_BYTES, at)}`
}
