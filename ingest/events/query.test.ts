import { expect, test } from 'vitest'
import { AppError } from '../../shared/errors.ts'
import { checkQuery } from './query.ts'

for (const query of [
  '',
  'meter_validation=STATIC',
  'cost_prediction=false',
  'meter_validation=STATIC&cost_prediction=false',
]) {
  test(`?${query} is taken`, () => expect(checkQuery(query)).toBeUndefined())
}

for (const [query, field] of [
  ['meter_validation=DYNAMIC', 'meter_validation'],
  ['meter_validation=static', 'meter_validation'],
  ['cost_prediction=true', 'cost_prediction'],
  ['cost_prediction=1', 'cost_prediction'],
  ['dry_run=true', 'dry_run'],
  ['meter_validation=STATIC&meter_validation=STATIC', 'meter_validation'],
  ['=x', ''],
] as const) {
  test(`?${query} is refused by name`, () => {
    let error: unknown
    try {
      checkQuery(query)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'INVALID_FIELD', status: 400, details: { field } })
  })
}
