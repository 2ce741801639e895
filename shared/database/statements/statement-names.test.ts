import { expect, test } from 'vitest'
import { withName, withNameIfOften } from './statement-names.ts'

test('a text has one name from when it comes again; one without values, or with a name of its own, stays as it is', () => {
  const asked = { text: 'select a from t where id = $1' }
  expect(withNameIfOften(asked, ['x'])).toBe(asked)
  const named = withNameIfOften(asked, ['y'])
  expect(named).toEqual({ ...asked, name: expect.stringMatching(/^often \d+$/) })
  expect(withNameIfOften({ ...asked }, ['z'])).toEqual(named)
  for (const values of [[], undefined]) expect(withNameIfOften(asked, values)).toBe(asked)
  const own = { ...asked, name: 'own' }
  expect(withNameIfOften(own, ['x'])).toBe(own)
})

test('texts without end have no names without end, and leave those of other work alone', () => {
  const name = (text: string): string | undefined => {
    withNameIfOften({ text }, [1])
    return withNameIfOften({ text }, [1]).name
  }
  const given = Array.from({ length: 3_000 }, (_, number) => name(`select ${number} where $1`))
  expect(new Set(given).size).toBeLessThanOrEqual(601)
  expect(given.at(-1)).toBeUndefined()
  // What came once is forgotten sooner or later, and what has a name keeps it.
  expect(name('select 0 where $1')).toBe(given[0])
  expect(withName({ text: 'select $1::int' }, [1]).name).toMatch(/^kept \d+$/)
})
