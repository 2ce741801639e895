// JSON of inputs that many subscriptions share: a catalog of many kilobytes is one object for all subscriptions that
// are read together, and is serialized once. Pure.

import { hash } from 'node:crypto'

const texts = new WeakMap<object, string>()

/**
 * The same text as JSON.stringify gives. The members must not change afterwards: the text of each is cached with it.
 */
export function jsonOfMembers(of: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(of).flatMap(([name, value]) => {
    const text = textOf(value)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  return `{${members.join(',')}}`
}

function textOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const text = texts.get(value) ?? JSON.stringify(value)
  texts.set(value, text)
  return text
}

/** Longer texts are hashed by themselves: mostly many subscriptions share them. */
const SHORT = 4_000
const hashes = new WeakMap<object, string>()

/** A hash of that text, for comparing two of them. A long member is hashed once, however many objects it is a member of. */
export function hashOfMembers(of: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(of).flatMap(([name, value]) => {
    const text = textOf(value)
    return text === undefined ? [] : [name, text.length < SHORT ? text : hashOf(value, text)]
  })
  return hash('sha256', members.join(' '))
}

function hashOf(value: unknown, text: string): string {
  if (typeof value !== 'object' || value === null) return hash('sha256', text)
  const found = hashes.get(value) ?? hash('sha256', text)
  hashes.set(value, found)
  return found
}
