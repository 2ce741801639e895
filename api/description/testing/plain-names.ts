// Recorded values as they stand in examples: the same at each recording, with names that a reader can read.
import { hash } from 'node:crypto'
import { isObject, type JsonObject } from '../json.ts'

const ID = /\b([a-z]{4})_[0-9A-Za-z]{22}\b/g
const MOMENT = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g

/** The values with ids and moments of the recording made constant, and made-up names made short. */
export function withPlainNames(values: Record<string, unknown>, names: ReadonlyMap<string, string>): JsonObject {
  const ids = new Map<string, string>()
  const count = new Map<string, number>()
  const thisYear = String(new Date().getUTCFullYear())
  let text = JSON.stringify(values)
  for (const [name, plain] of [...names].toSorted(([a], [b]) => b.length - a.length))
    text = text.replaceAll(name, plain)
  text = text.replaceAll(ID, (id, kind: string) => {
    const known = ids.get(id)
    if (known !== undefined) return known
    const number = (count.get(kind) ?? 0) + 1
    count.set(kind, number)
    const made = `${kind}_${hash('sha256', `${kind} ${number}`, 'hex').slice(0, 22)}`
    ids.set(id, made)
    return made
  })
  text = text.replaceAll(MOMENT, moment => (moment.startsWith(thisYear) ? '2026-01-15T09:30:00Z' : moment))
  const read: unknown = JSON.parse(text)
  return isObject(read) ? read : {}
}
