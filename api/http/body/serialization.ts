// Answers are written by their schema. A schema is compiled once in a process, however many routes and statuses answer with it.
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { TSchema } from 'typebox'
import { once } from '../../../shared/memory/once.ts'
import { bySchema } from './by-schema.ts'
import { writtenSchema } from './written-schema.ts'

// Answers are written by shape, not checked again: our own formats are known to the serializer, and hold.
const compile = SerializerSelector()(
  {},
  { ajv: { formats: { decimal: true, reference: true, 'time-zone': true, currency: true, country: true } } },
)

const serializerOf = bySchema(schema => {
  const compiled = once(() => compile({ schema: writtenSchema(schema), method: '', url: '', httpStatus: '' }))
  return (answer: unknown): string => compiled()(answer)
})

/** A Fastify serializer compiler that remembers by schema object, and compiles with the first answer: a start is not held up. */
export const serializerCompiler = ({ schema }: { schema: TSchema }): ((answer: unknown) => string) =>
  serializerOf(schema)
