// Which changes leave a notice.
import { expect, test } from 'vitest'
import type { Uow } from '../shared/database/database.ts'
import { type DomainEvent, emit } from './outbox.ts'

test('a dry run writes no notice: it is rolled back', async () => {
  const tx = { execute: () => Promise.reject(new Error('it was written')) }
  const tenant = { platformId: 'plat_1', environment: 'TEST' }
  const uow = { tx, tenant, actor: { id: null, requestId: null }, now: 0 } as unknown as Uow
  const event: DomainEvent = { type: 'CUSTOMER.CREATED', objectId: 'cust_1', data: { id: 'cust_1' }, previous: null }
  await expect(emit(uow, event)).rejects.toThrow()
  await expect(emit({ ...uow, isDryRun: true }, event)).resolves.toBeUndefined()
})
