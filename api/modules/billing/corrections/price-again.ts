// Prices a FINAL invoice again from its pinned inputs, with everything that the log has up to given positions.
import { readTenant } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import type { AddedLine } from '../../invoices/added-lines/price-added-line.ts'
import { getInvoice } from '../../invoices/repository.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { type InvoiceRequest, type PricedInvoice, priceInvoice } from '../run/price-invoice.ts'
import { type Basis, pinnedBasis, withUsage } from '../why/reprice.ts'

export type PricedAgain = {
  readonly inputs: Basis['inputs']
  readonly positions: readonly number[]
  /** The invoice, with lines that users added since; they may be added to it while it is a DRAFT. */
  price(added: readonly AddedLine[]): { readonly priced: PricedInvoice; readonly request: InvoiceRequest }
}

/** Throws INVALID_OPERATION when the inputs of the invoice were not stored, or what came late cannot be priced. */
export async function priceAgain(deps: BillingDeps, tenant: Tenant, invoiceId: Id<'invo'>): Promise<PricedAgain> {
  const positions = await deps.usage.positions()
  const row = await readTenant(deps.database, tenant, uow => getInvoice(uow, invoiceId))
  const pinned = await pinnedBasis(deps, tenant, row)
  const { inputs, request } = await withUsage(deps, tenant, {
    ...{ ...pinned, positions },
    // What is FINAL was converted by them.
    ...{ rates: null, keptRates: pinned.rates ?? [] },
  })
  return {
    inputs,
    positions,
    price: added => {
      // Only what no wallet paid is corrected.
      const unpaid = { wallets: [], balances: [], credits: [] }
      const whole = { ...request, ...unpaid, added: [...(request.added ?? []), ...added] }
      return { priced: priceInvoice(inputs, whole), request: whole }
    },
  }
}
