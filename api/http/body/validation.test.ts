import Type from 'typebox'
import { expect, test } from 'vitest'
import { validatorCompiler } from './validation.ts'

const Name = Type.String({ minLength: 1 })
const validate = validatorCompiler({
  schema: Type.Object({
    names: Type.Optional(Type.Union([Name, Type.Array(Name, { maxItems: 2 })])),
    note: Type.Optional(Type.Union([Name, Type.Null()])),
  }),
})
const refusal = (value: unknown): string => {
  const checked = validate(value)
  return checked === true ? 'accepted' : `${checked.error.details.field}: ${checked.error.message}`
}

test.each([
  [{ names: ['a', 'b', 'c'] }, 'names: names must not have more than 2 items.'],
  [{ names: ['a', ''] }, 'names.1: names.1 must not have fewer than 1 characters.'],
  [{ names: ['a', 5] }, 'names.1: names.1 must be string.'],
  [{ names: '' }, 'names: names must not have fewer than 1 characters.'],
  [{ names: 5 }, 'names: names must be string.'],
  [{ note: '' }, 'note: note must not have fewer than 1 characters.'],
  [{ note: 5 }, 'note: note must be string.'],
])(
  'a value that may be of several types is refused for what is wrong with the type that was sent: %j',
  (value, message) => {
    expect(refusal(value)).toBe(message)
  },
)
