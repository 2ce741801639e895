// The producer of on-demand charges: they meter nothing, so one transaction computes and saves them.
import { type Database, inTenant, type Uow } from '../../../../shared/database/database.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import { at } from '../../../../shared/time.ts'
import { inTimeOf } from '../../../test-clock/test-clock.ts'
import { addedLinesOf } from '../../invoices/added-lines/store-added-lines.ts'
import type { InvoiceProducer, Recomputation } from '../../invoices/producer.ts'
import { getInvoice } from '../../invoices/repository.ts'
import { lockFunds } from '../../invoices/settlement/funds.ts'
import { saveInputs } from '../../invoices/snapshot/invoice-snapshot.ts'
import type { InvoiceRow } from '../../invoices/table.ts'
import { lockCustomerShared } from '../../parties/customers/lock-customer.ts'
import { lockSubscription } from '../../subscriptions/billing-time/next-billing.ts'
import { loadBillingInputs } from '../terms/load/load-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { computeOnDemand, fundsOfOrder, type OnDemandSnapshot } from './compute-on-demand.ts'
import { chargesOfOrder } from './order.ts'

/** Its name, as stored with the invoices it makes. */
export const ON_DEMAND_BILLING = 'ON_DEMAND'

/** The producer of on-demand charges. They become FINAL only when a user requests it, and wait for no usage. */
export const onDemandProducer = (database: Database): InvoiceProducer => ({
  name: ON_DEMAND_BILLING,
  finalizesByItself: false,
  settle: async () => true,
  lock: async (uow, row) => void (await lockSubscription(uow, idOf('ppsu', subscriptionOf(row)))),
  recompute: ({ tenant, actor, row, prepare }, save) =>
    inTimeOf(database, tenant, [subscriptionOf(row)], () =>
      inTenant(database, tenant, actor, async uow => {
        await lockSubscription(uow, idOf('ppsu', subscriptionOf(row)))
        await lockCustomerShared(uow, idOf('cust', row.customer_id))
        await prepare?.(uow)
        return await save(uow, await recomputeOnDemand(uow, row.id))
      }),
    ),
  released: async () => {},
})

function subscriptionOf({ id, pricing_plan_subscription_id }: InvoiceRow): string {
  if (pricing_plan_subscription_id === null) throw new Error(`the invoice ${id} is of no subscription`)
  return pricing_plan_subscription_id
}

/** An on-demand charge as it can be saved now; null when its schedule no longer sells what was ordered. */
export async function recomputeOnDemand(uow: Uow, invoiceId: Id<'invo'>): Promise<Recomputation | null> {
  const row = await getInvoice(uow, invoiceId)
  const { on_demand: order } = row
  if (order === null) throw new Error(`the invoice ${row.id} has no order`)
  const inputs = await loadBillingInputs(uow, subscriptionOf(row))
  const terms = resolveTerms(inputs)
  const bought = chargesOfOrder({ terms, order })
  if (bought === null) return null
  const funds = await lockFunds(uow, { customerIds: [row.customer_id], invoiceIds: [row.id] })
  const payers = funds.payers(fundsOfOrder(inputs, { order, invoiceId: row.id }))
  const added = await addedLinesOf(uow, row.id, inputs.platform)
  return {
    cutoffAt: at(order.start_at),
    compute: finalizedAt => computeOnDemand(inputs, { terms, order, bought, payers, added, finalizedAt }),
    close: closing => {
      const kept: OnDemandSnapshot = { inputs, order, payers, added, finalizedAt: closing.now }
      return saveInputs(closing, row.id, kept)
    },
  }
}
