import Type from 'typebox'
import { expect, test } from 'vitest'
import { Period } from '../../resource/shapes.ts'
import { withForm } from './forms.ts'
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
  [{ names: ['a', 'b', 'c'] }, 'names: names must have at most 2 entries.'],
  [{ names: ['a', ''] }, 'names.1: names.1 must not be empty.'],
  [{ names: ['a', 5] }, 'names.1: names.1 must be a string.'],
  [{ names: '' }, 'names: names must not be empty.'],
  [{ names: 5 }, 'names: names must be a string.'],
  [{ note: '' }, 'note: note must not be empty.'],
  [{ note: 5 }, 'note: note must be a string.'],
])(
  'a value that may be of several types is refused for what is wrong with the type that was sent: %j',
  (value, message) => {
    expect(refusal(value)).toBe(message)
  },
)

const bounded = validatorCompiler({
  schema: Type.Object({
    name: Type.Optional(Type.String({ minLength: 3, maxLength: 5 })),
    list: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 2 })),
    count: Type.Optional(Type.Integer({ minimum: 2, maximum: 4 })),
    share: Type.Optional(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 })),
    open: Type.Optional(Type.Boolean()),
    part: Type.Optional(Type.Object({})),
    period: Type.Optional(Type.Union([Period, Type.Null()])),
  }),
})

test.each([
  [{ name: 'ab' }, 'name must have at least 3 characters.'],
  [{ name: 'abcdef' }, 'name must have at most 5 characters.'],
  [{ list: [] }, 'list must not be empty.'],
  [{ list: ['a', 'b', 'c'] }, 'list must have at most 2 entries.'],
  [{ list: 'a' }, 'list must be a list.'],
  [{ count: 1 }, 'count must be 2 or more.'],
  [{ count: 5 }, 'count must be 4 or less.'],
  [{ count: 2.5 }, 'count must be a whole number.'],
  [{ share: 0 }, 'share must be more than 0.'],
  [{ share: 1 }, 'share must be less than 1.'],
  [{ share: 'half' }, 'share must be a number.'],
  [{ open: 'yes' }, 'open must be true or false.'],
  [{ part: 'all' }, 'part must be an object.'],
  [{ period: { type: 'YEAR', value: 100 } }, 'accepted'],
  [{ period: { type: 'YEAR', value: 101 } }, 'period.value must be 100 or less.'],
  [{ period: { type: 'MONTH', value: 1_000 } }, 'accepted'],
  [{ period: { type: 'MONTH', value: 1_001 } }, 'period.value must be 1000 or less.'],
  [{ period: { type: 'YEARS', value: 101 } }, 'period.type must be one of DAY, WEEK, MONTH, YEAR.'],
])('a refusal says what a value must be: %j', (value, message) => {
  const checked = bounded(value)
  expect(checked === true ? 'accepted' : checked.error.message).toBe(message)
})

test.each([
  [{ limit: ['5', '6'] }, 'limit: limit is given more than once. Send it once.'],
  [{ bucket: ['DAY', 'HOUR'] }, 'bucket: bucket is given more than once. Send it once.'],
  [{ bucket: ['DAY', 'HOUR'], nothing: '1' }, 'bucket: bucket is given more than once. Send it once.'],
  [{ 'names[]': ['a', 'b', 'c'] }, 'names[]: names[] must have at most 2 entries.'],
  [{ limit: '-1' }, 'limit: limit must be a whole number of at most 16 digits, without a sign.'],
])('a parameter of a query that is given more than once is refused as that: %j', (query, message) => {
  const ofQuery = validatorCompiler({
    schema: Type.Object(
      {
        limit: Type.Optional(Type.String({ pattern: '^[0-9]{1,16}$' })),
        bucket: Type.Optional(Type.String({ enum: ['HOUR', 'DAY'] })),
        'names[]': Type.Optional(Type.Union([Name, Type.Array(Name, { maxItems: 2 })])),
      },
      { additionalProperties: false },
    ),
    httpPart: 'querystring',
  })
  const checked = ofQuery(query)
  expect(checked === true ? 'accepted' : `${checked.error.details.field}: ${checked.error.message}`).toBe(message)
})

test.each([
  [{}, 'MISSING_FIELD parts'],
  [{ parts: null }, 'MISSING_FIELD parts'],
  [{ parts: [{ kind: null, unit: 'b' }] }, 'MISSING_FIELD parts.0.kind'],
  [{ parts: [{ kind: 'A', unit: null }] }, 'MISSING_FIELD parts.0.unit'],
  [{ parts: [{ kind: 'A', unit: 'b', note: null }] }, 'INVALID_FIELD parts.0.note'],
  [{ parts: [null] }, 'INVALID_FIELD parts.0'],
  [null, 'INVALID_REQUEST undefined'],
])('what is required and null is missing, as what is absent: %j', (value, expected) => {
  const Part = Type.Object({
    kind: Type.Enum(['A', 'B']),
    unit: Type.Union([Name, Type.Array(Name)]),
    note: Type.Optional(Type.String()),
  })
  const checked = validatorCompiler({ schema: Type.Object({ parts: Type.Array(Part) }) })(value)
  const error = checked === true ? null : checked.error
  expect(`${error?.code} ${error?.details.field}`).toBe(expected)
})

test('a body of another form is refused in the words of that form, and with no field of this one', () => {
  const body = Type.Object(
    {
      from: Type.Optional(Name),
      whole: Type.Optional(Type.Object({ term: Name }, { additionalProperties: false })),
      parts: Type.Optional(Type.Array(Type.Object({ id: Name }, { additionalProperties: false }))),
    },
    { additionalProperties: false },
  )
  const check = validatorCompiler({ schema: withForm(body, { member: 'from', says: 'is not taken with from.' }) })
  const message = (value: object) => {
    const checked = check(value)
    return checked === true ? 'accepted' : checked.error.message
  }
  expect(message({ term: 'x' })).toContain('Did you mean whole.term?')
  expect(message({ from: 'a', term: 'x' })).toBe('term is not taken with from.')
  expect(message({ from: 'a', parts: [{ id: 'b', term: 'x' }] })).toContain('Remove it')
})
