// A body as JSON. What could be read in two ways is refused: a key given twice, and keys that change an object's nature.
import { AppError } from '../../../shared/errors.ts'

/** Levels of objects and lists in each other. No body has a quarter of them, and what walks through one calls itself for each. */
const LEVELS_MAX = 64

/** The value of a body, or of another text that `what` names; undefined for an empty one. Throws BAD_REQUEST or INVALID_FIELD. */
export function readJson(text: string, what = 'body'): unknown {
  if (text === '') return undefined
  const { colons, levels } = structureOf(text)
  if (levels > LEVELS_MAX) throw new AppError('BAD_REQUEST', `The ${what} nests deeper than ${LEVELS_MAX} levels.`)
  const value = parsed(text, what)
  if (colons !== keysIn(value))
    throw new AppError('INVALID_REQUEST', `A key is given twice in one object of the ${what}.`)
  return value
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError('BAD_REQUEST', `The ${what} is not valid JSON.`)
  }
}

/** How many keys the objects in it have. */
function keysIn(value: unknown): number {
  let keys = 0
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (Array.isArray(next)) for (const each of next) waiting.push(each)
    else if (typeof next === 'object' && next !== null) {
      for (const [key, member] of Object.entries(next)) {
        keys += 1
        refuseKey(key, member)
        waiting.push(member)
      }
    }
  }
  return keys
}

function refuseKey(key: string, member: unknown): void {
  const isPoison =
    key === '__proto__' ||
    (key === 'constructor' && typeof member === 'object' && member !== null && Object.hasOwn(member, 'prototype'))
  if (isPoison) throw new AppError('INVALID_FIELD', `${key} is not accepted as a key. Remove it.`, { field: key })
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b])
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d])

/** Colons outside of texts (in valid JSON there is one for each key that was written), and how deep it nests. */
function structureOf(text: string): { colons: number; levels: number } {
  let colons = 0
  let open = 0
  let levels = 0
  let isText = false
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (isText && code === BACKSLASH) index += 1
    else if (code === QUOTE) isText = !isText
    else if (isText) continue
    else if (code === COLON) colons += 1
    else if (OPENING.has(code)) {
      open += 1
      levels = Math.max(levels, open)
    } else if (CLOSING.has(code)) open -= 1
  }
  return { colons, levels }
}
