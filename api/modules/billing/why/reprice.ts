// Prices an invoice again: a FINAL one from the log and its pinned inputs, any other from its current inputs.
import type { ExchangeRate } from '../../../../shared/billing/exchange/exchange-rates.ts'
import { type Actor, type ReadUow, readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { linesOfInvoice } from '../../invoices/lines/store-lines.ts'
import { getInvoice } from '../../invoices/repository.ts'
import { readFunds } from '../../invoices/settlement/funds.ts'
import type { InvoiceRow } from '../../invoices/table.ts'
import type { Charge } from '../charges/charge.ts'
import { chargesOf } from '../charges/charges.ts'
import { closedNames } from '../late/closed-usage.ts'
import { REBILL_BILLING } from '../late/corrected/rebill.ts'
import { correctionWith } from '../late/corrected/store-corrections.ts'
import type { LateCharge } from '../late/late-usage.ts'
import { type LoadedPin, loadPins } from '../pinned/store-pinned.ts'
import type { InvoiceRequest } from '../pricing/invoice-request.ts'
import { pastRulesOf } from '../pricing/past-rules.ts'
import { type BillingDeps, computeInvoice } from '../run/compute-invoice.ts'
import { fundsRequest } from '../run/funds-request.ts'
import { keyOfWindow, SUBSCRIPTION_BILLING } from '../run/state/subscription-invoices.ts'
import { targetOf } from '../run/subscription-producer.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { usageNeeds } from '../usage/usage-needs.ts'
import { readNeeds, type UsageDeps } from '../usage/usage-reader.ts'
import { pinnedLate } from './pinned-late.ts'

/** What an invoice is priced from. */
export type Basis = {
  readonly inputs: BillingInputs
  /** Including usage. */
  readonly request: InvoiceRequest
  /** All its charges. */
  readonly charges: readonly Charge[]
  readonly late: readonly LateCharge[]
  /** For each partition of the log, the position up to which it counts; null for everything in the log. */
  readonly positions: readonly number[] | null
  /** The rates by which its usage in other currencies was converted when it became FINAL; null for those stored now. */
  readonly rates: readonly ExchangeRate[] | null
  /** The rates of the invoice that it corrects: they win over those stored now. */
  readonly keptRates?: readonly ExchangeRate[]
}

/** The refusal of an operation that this invoice does not take. */
export const refused = (row: Pick<InvoiceRow, 'id'>, message: string): AppError =>
  new AppError('INVALID_OPERATION', message, { field: 'id', resourceId: row.id, resourceType: 'INVOICE' })

export const notClosed = (row: Pick<InvoiceRow, 'id' | 'status'>): AppError =>
  refused(row, `An invoice that is ${row.status} is not closed; make it FINAL first.`)

export const noSnapshot = (row: Pick<InvoiceRow, 'id'>): AppError =>
  refused(row, 'The invoice became FINAL before what it was priced from was kept, so it cannot be priced again.')

/** Whether the invoice is for a period of a subscription; the lines of other invoices already say everything. */
export const isOfSubscription = ({ producer }: Pick<InvoiceRow, 'producer'>): boolean =>
  producer === SUBSCRIPTION_BILLING || producer === REBILL_BILLING

/** A basis that no longer changes. */
export type PinnedBasis = Basis & { readonly positions: readonly number[] }
/** An invoice, as far as its basis needs it. */
export type Priced = Pick<InvoiceRow, 'id' | 'producer' | 'status' | 'combined_into_id'>

/**
 * The basis of a FINAL invoice, or of one that was issued in another, without its usage, which `withUsage` reads. Throws INVALID_OPERATION where it was not
 * stored.
 */
export async function pinnedBasis(
  deps: Pick<BillingDeps, 'database'>,
  tenant: Tenant,
  row: InvoiceRow,
): Promise<PinnedBasis> {
  const [only] = await pinnedBases(deps, tenant, [row])
  if (!only) throw noSnapshot(row)
  return only.basis
}

/** Those of several invoices, in their order. */
export async function pinnedBases(
  deps: Pick<BillingDeps, 'database'>,
  tenant: Tenant,
  rows: readonly Priced[],
): Promise<{ readonly id: Priced['id']; readonly basis: PinnedBasis }[]> {
  for (const row of rows) {
    if (!isOfSubscription(row))
      throw refused(row, 'Only an invoice for a period of a subscription is priced from usage.')
    if (row.status !== 'FINAL' && row.combined_into_id === null) throw notClosed(row)
  }
  return await readTenant(deps.database, tenant, async uow => {
    const pins = await loadPins(
      uow,
      rows.map(({ id }) => id),
    )
    const late = [...pins.values()].flatMap(({ request }) => request.late)
    const names = await closedNames(
      uow,
      late.map(({ namesHash }) => namesHash),
    )
    return rows.map(row => {
      const pin = pins.get(row.id)
      if (!pin) throw noSnapshot(row)
      return { id: row.id, basis: basisOf(pin, names) }
    })
  })
}

function basisOf(pin: LoadedPin, names: Awaited<ReturnType<typeof closedNames>>): PinnedBasis {
  const { inputs, request, positions } = pin
  const terms = resolveTerms(inputs)
  const key = keyOfWindow(request.window)
  const late = pinnedLate(request.late, { inputs, terms, names, key })
  const { usageRates: rates = [] } = request
  return { inputs, positions, rates, ...chargedBy({ ...request, terms, usage: new Map(), late }) }
}

function chargedBy(request: InvoiceRequest & { readonly late: readonly LateCharge[] }) {
  const { terms, window, billed, late } = request
  return { request, late, charges: [...chargesOf(terms, window, billed), ...late.map(({ charge }) => charge)] }
}

/** The basis with its usage, read from the log as it is now. */
export async function withUsage(deps: UsageDeps, tenant: Tenant, basis: Basis): Promise<Basis> {
  const { inputs, charges, positions, rates, keptRates = [] } = basis
  const upTo = positions === null ? {} : { upTo: positions }
  const of = { tenant, inputs, needs: usageNeeds(charges), keptRates, ...upTo, ...(rates === null ? {} : { rates }) }
  return { ...basis, request: { ...basis.request, ...(await readNeeds(deps, of)) } }
}

/**
 * The basis of an OPEN or DRAFT invoice as of now, with its usage. Throws INVALID_OPERATION for a period that no longer
 * exists.
 */
export async function currentBasis(
  deps: BillingDeps,
  of: { readonly tenant: Tenant; readonly actor: Actor; readonly row: InvoiceRow },
): Promise<Basis> {
  const { tenant, actor, row } = of
  if (row.producer === REBILL_BILLING) return await withUsage(deps, tenant, await rebillBasis(deps, tenant, row))
  return await computeInvoice(
    deps,
    { tenant, actor, target: targetOf(row), mayClose: () => false },
    async (_uow, { inputs, window }, build) => {
      if (!window) throw refused(row, 'The subscription no longer has the period of this invoice.')
      const { request } = build(window, null)
      return { inputs, positions: null, rates: null, ...chargedBy({ ...request, late: request.late ?? [] }) }
    },
  )
}

/** The basis with the rules by which its invoice was issued, where they changed since. */
export async function withRulesAtIssue(uow: ReadUow, basis: Basis, invoiceId: Id<'invo'>): Promise<Basis> {
  const { inputs, request } = basis
  if (request.rules || !inputs.schedules.some(({ coupons = [] }) => coupons.length > 0)) return basis
  const rules = pastRulesOf(await linesOfInvoice(uow, invoiceId), inputs.schedules)
  return rules ? { ...basis, request: { ...request, rules } } : basis
}

/** The new invoice of a correction is priced by the inputs of its original, from the log as it is now. */
async function rebillBasis(deps: BillingDeps, tenant: Tenant, row: InvoiceRow): Promise<Basis> {
  const original = await readTenant(deps.database, tenant, async uow => {
    const correction = await correctionWith(uow, row.id)
    if (!correction) throw new Error(`the invoice ${row.id} corrects nothing`)
    return await getInvoice(uow, idOf('invo', correction.original_invoice_id))
  })
  const found = await pinnedBasis(deps, tenant, original)
  const { inputs, request, ...pinned } = await readTenant(deps.database, tenant, uow =>
    withRulesAtIssue(uow, found, original.id),
  )
  const payers = await readTenant(deps.database, tenant, async uow => {
    const of = { customerIds: [inputs.customer.id], invoiceIds: [row.id], replacedId: original.id }
    const funds = await readFunds(uow, of)
    return funds.payers(fundsRequest(inputs, { window: request.window, invoiceId: row.id }))
  })
  const keptRates = pinned.rates ?? []
  return { ...pinned, inputs, request: { ...request, ...payers }, positions: null, rates: null, keptRates }
}
