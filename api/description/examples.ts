// Examples of shapes, recorded from the fixtures of the resources (examples.it.test.ts), so that each is valid.
import { readFileSync } from 'node:fs'
import type { JsonObject } from './json.ts'

const isExamples = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null

function load(): JsonObject {
  const read: unknown = JSON.parse(readFileSync(new URL('./examples.json', import.meta.url), 'utf8'))
  if (!isExamples(read)) throw new Error('examples.json holds no examples')
  return read
}

/** By the name of the component. */
export const EXAMPLES: JsonObject = load()
