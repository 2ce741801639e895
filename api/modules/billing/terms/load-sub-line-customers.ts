// What the customers whose events may be on an invoice are called, where its lines say what of them is whose.
import { and, asc, inArray } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { NamedCustomer } from '../../invoices/document/parties.ts'
import { customers } from '../../parties/customers/table.ts'
import type { BillingInputs } from './billing-inputs.ts'
import { sendersOf } from './usage-parts.ts'

/** By id; none when the subscription does not ask for sub lines of customers. */
export async function loadSubLineCustomers(
  uow: ReadUow,
  { subscription, attribution }: Pick<BillingInputs, 'subscription' | 'attribution'>,
): Promise<NamedCustomer[]> {
  if (!subscription.display_invoice_sub_lines_per_processing_only_customer) return []
  const ids = [subscription.customer_id, ...sendersOf(attribution, subscription.id).map(({ id }) => id)]
  const c = customers
  const rows = await uow.tx
    .select({ id: c.id, reference: c.reference, type: c.type, individual: c.individual, organization: c.organization })
    .from(c)
    .where(and(inThisTenant(uow, c), inArray(c.id, [...new Set(ids)])))
    .orderBy(asc(c.id))
  return rows.map(({ individual, organization, ...row }) => ({
    ...row,
    individual: individual?.name ? { name: individual.name } : null,
    organization: organization?.legal_name ? { legal_name: organization.legal_name } : null,
  })) as NamedCustomer[]
}
