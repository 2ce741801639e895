// Times in a body become their canonical text (UTC, whole seconds) before anything compares or stores them.
import type { TSchema } from 'typebox'
import { formatInstant, parseInstant } from '../../shared/time.ts'

type Node = TSchema & {
  format?: string
  properties?: Record<string, Node>
  items?: Node
  anyOf?: Node[]
}

/** A copy of `value`, valid by `schema`, with every date-time in its canonical text. */
export function normalizeTimes(schema: TSchema, value: unknown): unknown {
  const node = schema as Node
  if (value === null || value === undefined) return value
  if (node.anyOf) {
    const inner = node.anyOf.find(option => option.properties || option.items || option.format)
    return inner ? normalizeTimes(inner, value) : value
  }
  if (typeof value === 'string') {
    const at = node.format === 'date-time' ? parseInstant(value) : null
    return at === null ? value : formatInstant(at)
  }
  if (Array.isArray(value)) return node.items ? value.map(item => normalizeTimes(node.items as Node, item)) : value
  if (typeof value !== 'object' || !node.properties) return value
  const { properties } = node
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      properties[name] ? normalizeTimes(properties[name], member) : member,
    ]),
  )
}
