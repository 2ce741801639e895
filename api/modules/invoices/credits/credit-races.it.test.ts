// A credit note beside what bills the subscription of its invoice: both come to an end, whichever lock is taken first.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { idOf } from '../../../../shared/ids.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { seedInvoice } from '../../billing/testing/seed-invoice.ts'
import { lockCustomerShared } from '../../parties/customers/lock-customer.ts'
import { lockSubscription } from '../../subscriptions/billing-time/next-billing.ts'
import { lockInvoice } from '../repository.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
})
afterAll(() => api.close())

async function finalInvoice(): Promise<Row> {
  const { id } = await seedInvoice(api, tenant)
  return await succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { status: 'FINAL' })
}

test.each(['credit', 'credit_and_copy'])(
  'POST …/%s does not wait for what prepares a correction of its invoice',
  async verb => {
    const { id, customer_id, pricing_plan_subscription_id } = await finalInvoice()
    // As a correction is prepared (CREDIT_AND_REBILL): the subscription, its customer, then the invoice.
    const credited = await inTenant(api.database, tenant.tenant, SERVICE, async uow => {
      await lockSubscription(uow, idOf('ppsu', pricing_plan_subscription_id))
      await lockCustomerShared(uow, idOf('cust', customer_id))
      const answer = await tenant.call('POST', `/v1/invoices/${id}/${verb}`, {})
      await lockInvoice(uow, idOf('invo', id))
      return answer
    })
    expect([credited.status, credited.body['code']]).toEqual([200, undefined])
  },
)
