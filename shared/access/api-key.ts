// API keys: millrace_<live|test>_<key id 12>_<secret 43><checksum 6>, all base62. Only the SHA-256 is ever stored.
// The checksum lets anybody refuse a random guess without a look-up, and lets secret scanners recognise a leak.
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { base62 } from '../ids.ts'
import type { Environment } from '../tenant.ts'

/** The expression to hand to secret scanners. */
export const API_KEY_PATTERN = /^millrace_(live|test)_([0-9A-Za-z]{12})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

export type NewApiKey = { text: string; keyId: string; sha256: string; displayPrefix: string; lastFour: string }

function checksum(body: string): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(body))
  return base62(bytes).padStart(6, '0')
}

/** SHA-256 of the whole key, hex. A 256-bit secret needs no slow hash. */
export const hashApiKey = (key: string): string => hash('sha256', key, 'hex')

/** A new key for one environment. `text` is shown once and never stored. */
export function newApiKey(environment: Environment): NewApiKey {
  const keyId = base62(randomBytes(9)).slice(-12)
  const body = `millrace_${environment.toLowerCase()}_${keyId}_${base62(randomBytes(32)).padStart(43, '0')}`
  const key = body + checksum(body)
  return { text: key, keyId, sha256: hashApiKey(key), displayPrefix: body.slice(0, 26), lastFour: key.slice(-4) }
}

/** The environment a well-formed key names, or null when its form or checksum is wrong: then no look-up is made. */
export function apiKeyEnvironment(key: string): Environment | null {
  const match = key.length < 100 ? API_KEY_PATTERN.exec(key) : null
  if (!match || checksum(key.slice(0, -6)) !== match[4]) return null
  return match[1] === 'live' ? 'LIVE' : 'TEST'
}
