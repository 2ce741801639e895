// Answers are written by their schema. A schema is compiled once in a process, however many routes and statuses answer with it.
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { TSchema } from 'typebox'
import { bySchema } from './by-schema.ts'

// Answers are written by shape, not checked again: our own formats are known to the serializer, and hold.
const compile = SerializerSelector()(
  {},
  { ajv: { formats: { decimal: true, reference: true, 'time-zone': true, currency: true, country: true } } },
)

const serializerOf = bySchema(schema => compile({ schema, method: '', url: '', httpStatus: '' }))

/** A Fastify serializer compiler that remembers by schema object. */
export const serializerCompiler = ({ schema }: { schema: TSchema }): ((answer: unknown) => string) =>
  serializerOf(schema)
