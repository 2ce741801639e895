import Type from 'typebox'
import { expect, test } from 'vitest'
import { customerResource } from '../../modules/parties/customers/resource.ts'
import { PageOf } from '../pagination.ts'
import { serializerCompiler } from './serialization.ts'

test('a schema is compiled once, however many routes, statuses and apps answer with it', () => {
  const { view } = customerResource
  expect(serializerCompiler({ schema: view })).toBe(serializerCompiler({ schema: view }))
  expect(serializerCompiler({ schema: PageOf(view) })).toBe(serializerCompiler({ schema: PageOf(view) }))
  expect(PageOf(view)).not.toBe(PageOf(Type.Object({})))
})

test('nothing is compiled before the first answer', () => {
  const impossible = { type: 'nothing there is' } as never
  const serializer = serializerCompiler({ schema: impossible })
  expect(() => serializer({})).toThrow('schema is invalid')
})

test('schemas that look the same but are two objects do not share what follows from them', () => {
  const [one, other] = [Type.Object({ a: Type.String() }), Type.Object({ a: Type.String() })]
  expect(serializerCompiler({ schema: one })).not.toBe(serializerCompiler({ schema: other }))
})

test('an answer holds what its schema names, in its order, and nothing else', () => {
  const schema = Type.Object({ a: Type.String(), b: Type.Union([Type.String({ format: 'decimal' }), Type.Null()]) })
  expect(serializerCompiler({ schema })({ b: '1.50', secret: 'x', a: 'y' })).toBe('{"a":"y","b":"1.50"}')
  expect(serializerCompiler({ schema })({ b: null, a: 'y' })).toBe('{"a":"y","b":null}')
})
