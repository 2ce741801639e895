// A calculation with `persist` continues in a schedule made by `copy`, or by `migrate` within the plan (semantics 1.1).
import { expect, test } from 'vitest'
import { plain } from '../../../../shared/decimal.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { exampleInputs, metered } from '../testing/example-inputs.ts'
import { countedSchedules } from './carried-usage.ts'
import { resolveTerms } from './price-terms.ts'

const [START, SECOND, THIRD] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', '2026-03-11T00:00:00Z']
const carries_usage = true as const
const inputsOf = (second: object, third: object) =>
  exampleInputs({
    start: START,
    items: [metered([{ amount: { quantity: '1', currency: 'EUR' } }])],
    schedules: [{ end_at: SECOND }, { start_at: SECOND, end_at: THIRD, ...second }, { start_at: THIRD, ...third }],
  })

test.each([
  ['from the first of them', { carries_usage }, { carries_usage }, [START, START, START]],
  ['from one that starts from nothing', {}, { carries_usage }, [START, SECOND, SECOND]],
  ['from nothing', { carries_usage }, {}, [START, START, THIRD]],
  ['from nothing on another plan', {}, { carries_usage, pricing_plan_id: 'other' }, [START, SECOND, THIRD]],
])('schedules that follow each other count %s', (_title, second, third, expected) => {
  const { schedules } = inputsOf(second, third)
  expect(schedules.map(each => countedSchedules(schedules, each)[0].start_at)).toEqual(expected)
})

test('what its own price counts continues in a copy that is given another plan, or none, and what its plan counts does not', () => {
  const inputs = inputsOf(
    { carries_usage, pricing_plan_id: 'other', pricing_plan_version_id: 'other' },
    { carries_usage, pricing_plan_id: 'unlisted', pricing_plan_version_id: 'own' },
  )
  const plans = ['plan', 'other', 'unlisted'].map(id => ({ id, amount_type: 'EXCLUDING_TAX' as const }))
  const pricings = inputs.pricings.flatMap(given =>
    ['version', 'other', 'own'].map(id => ({ ...given, id: `of-${id}`, pricing_plan_version_id: id })),
  )
  const schedules = inputs.schedules.map(each => ({ ...each, own_version_id: 'own' }))
  const since = resolveTerms({ ...inputs, plans, pricings, schedules }).map(
    ({ pricing, calendar }) => `${pricing.id} ${calendar && formatInstant(calendar.since)}`,
  )
  const own = `of-own ${START}`
  expect(since).toEqual([`of-version ${START}`, own, `of-other ${SECOND}`, own, own])
})

test('a schedule that continues another has the states recorded before it, and not those after it', () => {
  const inputs = inputsOf({ carries_usage }, {})
  const [config] = inputs.pricings.flatMap(({ items }) => items.flatMap(({ configs }) => configs))
  const state = (place: number, start_at: string, persist_usage: string) => ({
    id: persist_usage,
    schedule_id: inputs.schedules[place]?.id ?? '',
    config_id: config?.id ?? '',
    start_at,
    persist_usage,
  })
  const persisted_usages = [
    state(2, '2026-04-01T00:00:00Z', '9'),
    state(1, '2026-02-11T00:00:00Z', '8'),
    state(0, '2026-01-11T00:00:00Z', '7'),
  ]
  const terms = resolveTerms({ ...inputs, persisted_usages })
  expect(
    terms.map(({ calendar, persisted }) => [
      calendar && formatInstant(calendar.since),
      persisted.map(({ usage }) => plain(usage)).join(' '),
    ]),
  ).toEqual([
    [START, '7'],
    [START, '7 8'],
    [THIRD, '9'],
  ])
})
