// The names of the customers whose events may be on an invoice, where its lines show each customer's part.
import { and, asc } from 'drizzle-orm'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { anyOf } from '../../../../../shared/database/statements/any-of.ts'
import { idsOf } from '../../../../../shared/ids.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import type { NamedCustomer } from '../../../invoices/document/parties.ts'
import { customers } from '../../../parties/customers/table.ts'
import type { BillingInputs } from '../billing-inputs.ts'
import { sendersOf } from '../usage-parts.ts'

type Of = Pick<BillingInputs, 'subscription' | 'attribution'>

/** The customers of each subscription, in subscription order and by id; none when sub lines of customers are off. */
export async function loadSubLineCustomers(uow: ReadUow, all: readonly Of[]): Promise<NamedCustomer[][]> {
  const wanted = all.map(namedOn)
  const ids = [...new Set(wanted.flat())]
  if (ids.length === 0) return all.map(() => [])
  const c = customers
  const rows = await uow.tx
    .select({ id: c.id, reference: c.reference, type: c.type, individual: c.individual, organization: c.organization })
    .from(c)
    .where(and(inThisTenant(uow, c), anyOf(c.id, idsOf('cust', ids))))
    .orderBy(asc(c.id))
  const named = rows.map(({ individual, organization, ...row }) => ({
    ...row,
    individual: individual?.name ? { name: individual.name } : null,
    organization: organization?.legal_name ? { legal_name: organization.legal_name } : null,
  })) as NamedCustomer[]
  return wanted.map(own => named.filter(({ id }) => own.includes(id)))
}

function namedOn({ subscription, attribution }: Of): string[] {
  if (!subscription.display_invoice_sub_lines_per_processing_only_customer) return []
  return [subscription.customer_id, ...sendersOf(attribution, subscription.id).map(({ id }) => id)]
}
