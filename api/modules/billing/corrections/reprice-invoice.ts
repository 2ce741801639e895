// Prices a FINAL invoice again from its pinned inputs, with everything that the log has up to given positions.
import { type ReadUow, readTenant, type Uow } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import type { AddedLine } from '../../invoices/added-lines/price-added-line.ts'
import { loadTaxAnswersOf } from '../../invoices/document/tax/load-tax-answers.ts'
import { getInvoice } from '../../invoices/repository.ts'
import { lockFunds, type Payers } from '../../invoices/settlement/funds.ts'
import type { InvoiceRequest } from '../pricing/invoice-request.ts'
import { type PricedInvoice, priceInvoice } from '../pricing/price-invoice.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { fundsRequest } from '../run/funds-request.ts'
import { type InvoiceWindow, periodOf } from '../terms/windows.ts'
import { type Basis, pinnedBasis, withRulesAtIssue, withUsage } from '../why/reprice.ts'

export type RepricedInvoice = {
  readonly inputs: Basis['inputs']
  readonly positions: readonly number[]
  readonly window: InvoiceWindow
  /**
   * The invoice, with lines that users added since; they may be added to it while it is a DRAFT. Without `payers`, what
   * wallets had when it became FINAL pays it.
   */
  price(
    added: readonly AddedLine[],
    payers?: Payers,
  ): { readonly priced: PricedInvoice; readonly request: InvoiceRequest }
}

/** Throws INVALID_OPERATION when the inputs of the invoice were not stored, or what came late cannot be priced. */
export async function repriceInvoice(
  deps: BillingDeps,
  tenant: Tenant,
  invoiceId: Id<'invo'>,
): Promise<RepricedInvoice> {
  const positions = await deps.usage.positions()
  const row = await readTenant(deps.database, tenant, uow => getInvoice(uow, invoiceId))
  const issued = await pinnedBasis(deps, tenant, row)
  const pinned = await readTenant(deps.database, tenant, uow => withRulesAtIssue(uow, issued, invoiceId))
  const answers = await readTenant(deps.database, tenant, uow => answersFor(uow, pinned))
  const { inputs, request } = await withUsage(deps, tenant, {
    ...{ ...pinned, inputs: { ...pinned.inputs, ...answers }, positions },
    // What is FINAL was converted by them.
    ...{ rates: null, keptRates: pinned.rates ?? [] },
  })
  return {
    inputs,
    positions,
    window: request.window,
    price: (added, payers) => {
      const whole = { ...request, ...payers, added: [...(request.added ?? []), ...added] }
      return { priced: priceInvoice(inputs, whole), request: whole }
    },
  }
}

/**
 * The answers of a tax engine that the original used, and those given since: it had no question where it taxed nothing. They are
 * kept with the new invoice when it becomes FINAL.
 */
async function answersFor(
  uow: ReadUow,
  { inputs, request: { window } }: Basis,
): Promise<Pick<Basis['inputs'], 'tax_answers'>> {
  const asking = { ...inputs, since: periodOf(window).start }
  const { tax_answers: now } = (await loadTaxAnswersOf(uow, [asking]))(asking)
  if (!now) return {}
  const used = (inputs.tax_answers ?? []).filter(({ answer }) => answer !== null)
  const known = new Set(used.map(({ key }) => key))
  return { tax_answers: [...used, ...now.filter(({ key }) => !known.has(key))] }
}

/**
 * What can pay the new invoice: the wallets as they are now, and what the original took of them, because its credit note
 * gives that back. `invoiceId` is null before the invoice exists. The wallets are locked until commit.
 */
export async function payersOf(
  uow: Uow,
  { inputs, window }: RepricedInvoice,
  of: { readonly replacedId: Id<'invo'>; readonly invoiceId: Id<'invo'> | null },
): Promise<Payers> {
  const { replacedId, invoiceId } = of
  const invoiceIds = invoiceId === null ? [] : [invoiceId]
  const funds = await lockFunds(uow, { customerIds: [inputs.customer.id], invoiceIds, replacedId })
  return funds.payers(fundsRequest(inputs, { window, invoiceId }))
}
