// Prices an invoice for several subscriptions again: from what each of its invoices was priced from.

import { readTenant } from '../../../../shared/database/database.ts'
import { idOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { lineId } from '../../invoices/document/lay-out.ts'
import type { PrepaidBalance } from '../../invoices/document/pay-from-balances.ts'
import { getInvoice } from '../../invoices/repository.ts'
import type { InvoiceRow } from '../../invoices/table.ts'
import { priceBeforeDocument } from '../pricing/price-invoice.ts'
import { COMBINED_BILLING } from '../run/combined/issue-together.ts'
import { type JoinedInvoice, joinedKey, joinInvoices, type Part } from '../run/combined/join-invoices.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { type Basis, noSnapshot, pinnedBases, withUsage } from './reprice.ts'

export const isCombined = ({ producer }: Pick<InvoiceRow, 'producer'>): boolean => producer === COMBINED_BILLING

type PricedPart = Part & { readonly basis: Basis }

/** What is kept with such an invoice. */
type SavedBalances = { readonly balances: readonly PrepaidBalance[] }

/** Its invoices, each priced from the log and its pinned inputs. */
export async function partsOfCombined(
  deps: BillingDeps,
  tenant: Tenant,
  { content }: Pick<InvoiceRow, 'content'>,
): Promise<PricedPart[]> {
  const ids = content.combined_invoice_ids ?? []
  const rows = await readTenant(deps.database, tenant, uow =>
    Promise.all(ids.map(id => getInvoice(uow, idOf('invo', id)))),
  )
  const bases = await pinnedBases(deps, tenant, rows)
  return await Promise.all(
    bases.map(async pinned => {
      const basis = await withUsage(deps, tenant, pinned.basis)
      const { inputs, request } = basis
      const subscriptionId = inputs.subscription.id
      return { invoiceId: pinned.id, subscriptionId, basis, priced: priceBeforeDocument(inputs, request) }
    }),
  )
}

/** The document of them together. Throws INVALID_OPERATION where what it needs was not kept. */
export function recombined(row: InvoiceRow, parts: readonly PricedPart[], kept: unknown): JoinedInvoice {
  const [first, ...others] = parts
  if (!first || kept === undefined) throw noSnapshot(row)
  const { balances } = kept as SavedBalances
  return joinInvoices([first, ...others], balances)
}

/** What a line of it is priced from, and its id on the invoice of its subscription; null for a line of none. */
export async function basisOfLine(
  deps: BillingDeps,
  tenant: Tenant,
  of: { readonly row: InvoiceRow; readonly lineId: string },
): Promise<{ readonly basis: Basis; readonly id: string } | null> {
  for (const part of await partsOfCombined(deps, tenant, of.row)) {
    const line = part.priced.draft.lines.find(({ key }) => lineId(joinedKey(part, key)) === of.lineId)
    if (line) return { basis: part.basis, id: lineId(line.key) }
  }
  return null
}
