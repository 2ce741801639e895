import { expect, test } from 'vitest'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { acceptorsOf } from './payment-actions.ts'

test('a self-billing invoice shows no way to pay it: its billing entity pays the customer', async () => {
  const noQuestion = {} as ReadUow
  const invoice = {
    billing_entity_id: 'bill_1',
    billing_type: 'SELF_BILLING' as const,
    pricing_plan_subscription_ids: [],
  }
  expect(await acceptorsOf(noQuestion, invoice)).toEqual([])
})
