// Answers of many megabytes, written with pauses: the same text as the serializer's, which cannot be interrupted.
import type { TSchema } from 'typebox'
import type { PausingWork } from '../../../shared/pausing-work.ts'
import { serializerCompiler } from './serialization.ts'

/** Writes an answer as pieces of its text. */
export type PartsWriter = (answer: unknown) => PausingWork<readonly string[]>

/** Adds the text of a value to what is written. */
type Writer = (value: unknown, written: Written) => PausingWork<void>
type Written = {
  readonly pieces: string[]
  /** What is written of objects already: an answer may hold one several times. */
  readonly known: Map<object, { readonly writer: Writer; readonly pieces: readonly string[] }>
}
type Member = { readonly key: string; readonly writer: Writer; readonly isRequired: boolean }
/** Writes neighbouring members that are all small in one call. */
type Stretch = (value: object) => string

/** Of a schema whose members of these names, each an object or a list of objects, are large: it pauses within them. */
export function partsWriter(schema: TSchema, large: ReadonlySet<string>): PartsWriter {
  const writer = writerOf(schema, { large, made: new Map() })
  return function* (answer) {
    const written: Written = { pieces: [], known: new Map() }
    yield* writer(answer, written)
    return written.pieces
  }
}

type Making = { readonly large: ReadonlySet<string>; readonly made: Map<TSchema, Writer> }
type Properties = Readonly<Record<string, TSchema>>
type ObjectSchema = TSchema & { readonly properties: Properties; readonly required?: readonly string[] }

function writerOf(schema: TSchema, making: Making): Writer {
  const known = making.made.get(schema)
  if (known) return known
  const writer = makeWriter(schema, making)
  making.made.set(schema, writer)
  return writer
}

function makeWriter(schema: TSchema, making: Making): Writer {
  const { type, items, properties, additionalProperties } = schema as TSchema & {
    type?: string
    items?: TSchema
    properties?: Properties
    additionalProperties?: unknown
  }
  if (items !== undefined && type === 'array') return listWriter(writerOf(items, making))
  if (properties && !additionalProperties && Object.keys(properties).some(key => making.large.has(key)))
    return objectWriter({ ...schema, properties }, making)
  const write = serializerCompiler({ schema })
  return function* (value, { pieces }) {
    pieces.push(write(value))
    yield
  }
}

const listWriter = (ofEach: Writer): Writer =>
  function* (value, written) {
    if (!Array.isArray(value)) throw new TypeError('a list is written in parts')
    written.pieces.push('[')
    for (const [place, each] of value.entries()) {
      if (place > 0) written.pieces.push(',')
      yield* ofEach(each, written)
    }
    written.pieces.push(']')
  }

function objectWriter(schema: ObjectSchema, making: Making): Writer {
  const parts = partsOf(schema, making)
  const writer: Writer = function* (value, written) {
    if (typeof value !== 'object' || value === null) throw new TypeError('an object is written in parts')
    const { pieces, known } = written
    const before = known.get(value)
    if (before?.writer === writer) {
      pieces.push(...before.pieces)
      return
    }
    const from = pieces.length
    let mark = '{'
    for (const part of parts) {
      if (typeof part === 'function') {
        const text = part(value)
        if (text === '') continue
        pieces.push(mark, text)
      } else {
        const member = (value as Readonly<Record<string, unknown>>)[part.key]
        if (member === undefined && part.isRequired) throw new Error(`"${part.key}" is required!`)
        if (member === undefined) continue
        pieces.push(`${mark}${JSON.stringify(part.key)}:`)
        yield* part.writer(member, written)
      }
      mark = ','
    }
    pieces.push(mark === '{' ? '{}' : '}')
    known.set(value, { writer, pieces: pieces.slice(from) })
  }
  return writer
}

/** The members in the order in which the serializer writes them: those that are required come first. */
function partsOf({ properties, required = [] }: ObjectSchema, making: Making): (Stretch | Member)[] {
  const keys = Object.keys(properties)
  const ordered = [...keys.filter(key => required.includes(key)), ...keys.filter(key => !required.includes(key))]
  const parts: (Stretch | Member)[] = []
  let small: string[] = []
  const close = (): void => {
    if (small.length > 0) parts.push(stretchOf(small, properties, required))
    small = []
  }
  for (const key of ordered) {
    const of = properties[key]
    if (!of || !making.large.has(key)) {
      small.push(key)
      continue
    }
    close()
    parts.push({ key, writer: writerOf(of, making), isRequired: required.includes(key) })
  }
  close()
  return parts
}

function stretchOf(keys: readonly string[], properties: Properties, required: readonly string[]): Stretch {
  const write = serializerCompiler({
    schema: {
      type: 'object',
      properties: Object.fromEntries(keys.map(key => [key, properties[key]])),
      required: required.filter(key => keys.includes(key)),
    } as TSchema,
  })
  return value => write(value).slice(1, -1)
}
