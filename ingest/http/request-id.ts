// Ids of requests, made at the rate of requests. Most are only ever written into an answer, so an id is a place in a pool of
// hex digits, drawn by the thousand, and becomes a string only where one is needed.
import { randomBytes } from 'node:crypto'

const PREFIX = 'reqr_'
const PREFIX_BYTES = Buffer.from(PREFIX)
const DIGITS = 22
const POOL_IDS = 4_096

const newPool = (): Buffer => Buffer.from(randomBytes((POOL_IDS * DIGITS) / 2).toString('hex'), 'latin1')
let pool = newPool()
let next = 0

/** Bytes of a request id. */
export const REQUEST_ID_LENGTH = PREFIX.length + DIGITS

/** A new request id: `reqr_` and 22 hex digits, which are in the id alphabet. */
export class RequestId {
  // A pool is never written again, so that an id stays what it is.
  private readonly pool: Buffer
  private readonly at: number

  constructor() {
    if (next === pool.length) {
      pool = newPool()
      next = 0
    }
    this.pool = pool
    this.at = next
    next += DIGITS
  }

  toString(): string {
    return PREFIX + this.pool.toString('latin1', this.at, this.at + DIGITS)
  }

  /** Writes the id, of REQUEST_ID_LENGTH bytes, so that it ends where `to` does. */
  putAtEnd(to: Uint8Array): void {
    to.set(PREFIX_BYTES, to.length - REQUEST_ID_LENGTH)
    const start = to.length - DIGITS
    for (let digit = 0; digit < DIGITS; digit += 1) to[start + digit] = this.pool[this.at + digit] ?? 0
  }
}
