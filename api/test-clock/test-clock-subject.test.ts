// Each resource that belongs to customers states which test clock its calls follow, or that they follow none.
import { getTableColumns } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { RESOURCES, RULES } from '../modules/modules.ts'
import { namesIn } from './request-time.ts'
import { memberOf } from './test-clock-subject.ts'

const { testClockSubjects: subjects = [] } = RULES

test('every resource whose table names a customer, or what belongs to one, says whose test clock its calls follow', () => {
  const silent = RESOURCES.filter(({ testClockOf }) => testClockOf === undefined).flatMap(({ objectType, table }) =>
    Object.keys(getTableColumns(table))
      .filter(column => subjects.some(subject => new RegExp(`(^|_)${memberOf(subject)}_ids?$`).test(column)))
      .map(column => `${objectType}.${column}`),
  )
  expect(silent, 'add testClockOf to the resource: the column, or null').toEqual([])
})

test('what a resource says is a column of its table', () => {
  for (const { objectType, table, testClockOf } of subjects)
    expect([objectType, ...Object.keys(getTableColumns(table))]).toContain(testClockOf)
})

const named = (url: string, body: unknown = undefined, params: unknown = {}): string[] =>
  namesIn(subjects, { routeOptions: { url } as never, params, body })

test('a call names its customer by its path, and by the fields of its body', () => {
  expect(named('/v1/wallets/:id/balance', undefined, { id: 'main' })).toEqual(['main'])
  expect(named('/v1/invoices', { customer_id: 'cust_1', pricing_plan_schedule_id: 'ppsc_1', name: 'n' })).toEqual([
    'cust_1',
    'ppsc_1',
  ])
  expect(
    named('/v1/pricing-plan-subscriptions/init', { pricing_plan_subscription: { customer_reference: 'acme' } }),
  ).toEqual(['acme'])
})

test('a call on what belongs to no customer names none', () => {
  expect(named('/v1/products/:id', { customer_id: 'cust_1' }, { id: 'prod_1' })).toEqual([])
  expect(named('/v1/wallet-types', { wallet_id: 'wall_1' })).toEqual([])
  expect(named('/', { customer_id: 'cust_1' })).toEqual([])
})
