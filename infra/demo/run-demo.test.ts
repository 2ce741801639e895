import { expect, test } from 'vitest'
import type { Row } from './client.ts'
import { checkIsolation } from './run-demo.ts'
import { CUSTOMERS } from './sample.ts'

/** Finds these rows, by id or by reference. */
const clientOf = (rows: readonly (Row & { reference: string })[]) => ({
  find: async (path: string): Promise<Row | null> =>
    rows.find(row => path === `/v1/customers/${row.id}` || path === `/v1/customers/${row.reference}`) ?? null,
})
const customers = (owner: string) => CUSTOMERS.map(reference => ({ id: `${owner}-${reference}`, reference }))
const own = clientOf(customers('one'))

test.each([
  ['no customers', []],
  ['customers of its own', [{ id: 'two-other', reference: 'other' }]],
  ['customers of its own by the same references', customers('two')],
])('another platform with %s is walled off', async (_name, rows) => {
  await expect(checkIsolation(own, clientOf(rows))).resolves.toBeUndefined()
})

test('another platform that reaches one of the customers is not', async () => {
  const leaked = customers('one').slice(2, 3)
  await expect(checkIsolation(own, clientOf(leaked))).rejects.toThrow(`another platform sees ${leaked[0]?.reference}`)
})
