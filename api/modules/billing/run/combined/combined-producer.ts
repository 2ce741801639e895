// The producer of invoices for several subscriptions. They are made FINAL, by the billing run, so none is computed again.
import type { Uow } from '../../../../../shared/database/database.ts'
import { idsOf } from '../../../../../shared/ids.ts'
import type { InvoiceProducer } from '../../../invoices/producer.ts'
import type { InvoiceRow } from '../../../invoices/table.ts'
import { lockSubscriptions } from '../../../subscriptions/billing-time/next-billing.ts'
import { COMBINED_BILLING } from './issue-together.ts'

const lock = async (uow: Uow, { content }: InvoiceRow): Promise<void> =>
  void (await lockSubscriptions(uow, idsOf('ppsu', content.pricing_plan_subscription_ids), { skip: false }))

export const combinedProducer: InvoiceProducer = {
  name: COMBINED_BILLING,
  finalizesByItself: false,
  settle: async () => true,
  lock,
  recompute: ({ row }) => Promise.reject(new Error(`the invoice ${row.id} was made FINAL and is never computed again`)),
  released: async () => {},
}
