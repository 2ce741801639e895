// Recorded values as they stand in examples: the same at each recording, with names that a reader can read.
import { hash } from 'node:crypto'
import { isObject, type JsonObject } from '../json.ts'

const ID = /\b([a-z]{4})_[0-9A-Za-z]{22}\b/g
const MOMENT = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g
const MADE_UP = new RegExp(`\\b([A-Za-z]+)-${process.pid}-\\d+\\b`, 'g')
const KEY = /\b(millrace_(?:test|live))_([0-9A-Za-z]{12})_([0-9A-Za-z]+)/g
const TOKEN = /\btoken=[\w.-]{40,}/g
const CODE = /\b(SPRING)-[0-9A-Z]{6}\b/g
const DAY_MS = 86_400_000
/** The time of the recording. */
export const NOW = '2026-06-15T09:30:00Z'

const digest = (of: string, length: number): string => hash('sha256', of, 'hex').slice(0, length)

/** The values with whatever a recording makes at random, or takes from the time of day, made constant, and made-up names made short. */
export function withPlainNames(values: Record<string, unknown>, names: ReadonlyMap<string, string>): JsonObject {
  let text = JSON.stringify(values)
  for (const [name, plain] of [...names].toSorted(([a], [b]) => b.length - a.length))
    text = text.replaceAll(name, plain)
  text = numbered(text, MADE_UP, (name, number) => (number === 1 ? name : `${name}-${number}`))
  text = numbered(text, ID, (kind, number) => `${kind}_${digest(`${kind} ${number}`, 22)}`)
  text = withPlainKeys(text)
    .replaceAll(TOKEN, `token=${digest('token', 40)}`)
    .replaceAll(CODE, '$1-7K3QXM')
    .replaceAll(MOMENT, moment => (Math.abs(Date.parse(moment) - Date.now()) < DAY_MS ? NOW : moment))
  const read: unknown = JSON.parse(text)
  return isObject(read) ? read : {}
}

/** The text with each different match replaced, by what its first group says and how many of it came before. */
function numbered(text: string, pattern: RegExp, made: (kind: string, number: number) => string): string {
  const known = new Map<string, string>()
  const count = new Map<string, number>()
  return text.replaceAll(pattern, (found, kind: string) => {
    const before = known.get(found)
    if (before !== undefined) return before
    const number = (count.get(kind) ?? 0) + 1
    count.set(kind, number)
    const plain = made(kind, number)
    known.set(found, plain)
    return plain
  })
}

/** Keys are shown whole, by their beginning and by their end. */
function withPlainKeys(text: string): string {
  let plain = text
  for (const [key, kind = '', prefix = '', secret = ''] of text.matchAll(KEY)) {
    const made = `${kind}_${digest(`prefix of ${kind}`, prefix.length)}_${digest(`secret of ${kind}`, secret.length)}`
    plain = plain
      .replaceAll(key, made)
      .replaceAll(`${kind}_${prefix}`, made.slice(0, kind.length + 1 + prefix.length))
      .replaceAll(`"last_four":"${key.slice(-4)}"`, `"last_four":"${made.slice(-4)}"`)
  }
  return plain
}
