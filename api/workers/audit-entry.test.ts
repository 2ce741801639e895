import { expect, test } from 'vitest'
import { changedBetween } from '../../shared/database/outbox.ts'
import { auditEntry } from './audit-entry.ts'

const change = (type: string, data: Record<string, unknown>, previous_data: Record<string, unknown> | null) =>
  auditEntry({
    type,
    object_type: 'CUSTOMER',
    object_id: 'cust_1',
    changed_fields: changedBetween(previous_data, data),
  })

test.each([
  ['a creation has no changed fields', 'CUSTOMER.CREATED', { name: 'A' }, null, 'CREATED', []],
  [
    'an update names what differs, in any depth',
    'CUSTOMER.UPDATED',
    { a: { b: 2 }, c: 1 },
    { a: { b: 1 }, c: 1 },
    'UPDATED',
    ['a'],
  ],
  ['a field that came or went is changed', 'CUSTOMER.UPDATED', { b: 1 }, { a: 1 }, 'UPDATED', ['a', 'b']],
  ['absent and null are the same', 'CUSTOMER.UPDATED', { a: null, b: 1 }, { b: 2 }, 'UPDATED', ['b']],
  ['updated_at says nothing', 'CUSTOMER.UPDATED', { updated_at: 2, b: 1 }, { updated_at: 1, b: 2 }, 'UPDATED', ['b']],
  ['a sub-action keeps its name', 'CUSTOMER.STATUS_TO_FINAL', {}, null, 'STATUS_TO_FINAL', []],
])('%s', (_name, type, data, previous, action, changedFields) => {
  expect(change(type, data, previous)).toMatchObject({ action, changedFields })
})

test('the message names the resource, the action and the fields, and no value', () => {
  const { message } = change('CUSTOMER.UPDATED', { email: 'new@example.com' }, { email: 'old@example.com' })
  expect(message).toBe('CUSTOMER cust_1 UPDATED: email')
})
