// The invoice that an event will be on, and its inputs, read once: after that each event costs two computations and no
// query.

import { type ReadUow, readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import type { Instant, Interval } from '../../../../shared/time.ts'
import { type PropertyTest, propertyOf } from '../../../../shared/usage/condition.ts'
import { addedLinesOf } from '../../invoices/added-lines/store-added-lines.ts'
import type { InvoiceContent } from '../../invoices/schema.ts'
import { type AvailableFunds, readFunds } from '../../invoices/settlement/funds.ts'
import { isOpenEnded } from '../../invoices/table.ts'
import { usesOf } from '../../invoices/wallet-uses.ts'
import { loadRates } from '../../parties/exchange-rates/load-rates.ts'
import { chargesOf } from '../charges/charges.ts'
import type { InvoiceRequest } from '../pricing/invoice-request.ts'
import { priceInvoice } from '../pricing/price-invoice.ts'
import { loadRefunds } from '../refunds/load-refunds.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { fundsRequest } from '../run/funds-request.ts'
import { deductedBefore, withDeducted } from '../run/state/deducted-before.ts'
import { billedElsewhere, keyOfRow, keyOfWindow, loadSubscriptionInvoices } from '../run/state/subscription-invoices.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { loadBillingInputs } from '../terms/load/load-inputs.ts'
import { chargesNothing, resolveTerms } from '../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../terms/windows.ts'
import { type UsageFigures, type UsageNeed, usageNeeds } from '../usage/usage-needs.ts'
import { readNeeds } from '../usage/usage-reader.ts'
import { type NewUsage, needsOf, withEvent } from './add-event.ts'
import { compareInvoices, type Difference, noDifference } from './compare-invoices.ts'
import { type PredictedWallet, predictedWallets } from './predicted-wallets.ts'

export type Predicted = Difference & {
  readonly customerId: string
  /** Null for an invoice that does not exist yet. */
  readonly invoiceId: string | null
  readonly currency: string
  /** The wallets whose payment of the invoice changes with the event, in the order in which they pay. */
  readonly wallets: readonly PredictedWallet[]
}

/** One invoice with its usage so far, and with the events that are added to it. */
export type PredictionState = {
  /** Whether a tax engine has not said what tax applies: amounts are without tax then. */
  readonly lacksTax: boolean
  /** Whether it is the invoice for usage of that time. */
  covers(at: Instant): boolean
  /** Whether some price counts the event; a price of the model NONE bills nothing. */
  prices(event: NewUsage): boolean
  /** The result for an event that is not counted again. */
  unchanged(): Predicted
  /** What the event adds, and the state after it. Throws INVALID_OPERATION when a price cannot be billed. */
  add(event: NewUsage): Promise<{ readonly predicted: Predicted; readonly next: PredictionState }>
}

type Loaded = {
  readonly tenant: Tenant
  readonly inputs: BillingInputs
  readonly request: Omit<InvoiceRequest, 'usage'>
  readonly needs: readonly UsageNeed[]
  /** The `needs` of prices that bill something. */
  readonly billed: readonly UsageNeed[]
  readonly arrears: Interval
  readonly invoiceId: string | null
  readonly funds: AvailableFunds
}

/**
 * Reads the invoice of a subscription whose period contains `at`. Throws INVALID_OPERATION when the subscription has no
 * such period or a price cannot be billed, SERVICE_UNAVAILABLE when usage cannot be read.
 */
export async function loadPredictionState(
  deps: Pick<BillingDeps, 'database' | 'usage'>,
  tenant: Tenant,
  of: { readonly subscriptionId: string; readonly at: Instant },
): Promise<PredictionState> {
  const loaded = await readTenant(deps.database, tenant, uow => load(uow, of))
  const { inputs, needs } = loaded
  const { usage } = await readNeeds(deps, { tenant, inputs, needs })
  return stateOf(deps, loaded, usage, priced(loaded, usage))
}

async function load(uow: ReadUow, of: { readonly subscriptionId: string; readonly at: Instant }): Promise<Loaded> {
  const inputs = forPrediction(await loadBillingInputs(uow, of.subscriptionId))
  const window = windowOf(inputs, of.at)
  if (!window?.arrears) {
    const message = 'The subscription has no billing period at the time of the event.'
    throw new AppError('INVALID_OPERATION', message, { field: 'timestamp', resourceId: of.subscriptionId })
  }
  const terms = resolveTerms(inputs)
  const stored = await loadSubscriptionInvoices(uow, of.subscriptionId)
  const [rows = stored] = await withDeducted(uow, [{ inputs, rows: stored }])
  const key = keyOfWindow(window)
  const billed = billedElsewhere(rows, { key, cutoffAt: window.cutoffAt })
  const row = rows.find(each => keyOfRow(each) === key) ?? null
  // A closed invoice stays as it is: late usage is billed on the next one, and nothing held by the closed one pays it.
  const isOpen = row === null || isOpenEnded(row)
  const funds = await readFunds(uow, {
    customerIds: isOpen ? [inputs.customer.id] : [],
    invoiceIds: row && isOpen ? [row.id] : [],
  })
  const invoiceId = row && isOpen ? row.id : null
  const charges = chargesOf(terms, window, billed)
  return {
    tenant: uow.tenant,
    inputs,
    request: {
      terms,
      window,
      billed,
      deducted: deductedBefore(inputs, rows, window),
      refunds: await loadRefunds(uow, inputs, window),
      ...funds.payers(fundsRequest(inputs, { window, invoiceId })),
      added: row && isOpen ? await addedLinesOf(uow, row.id, inputs.platform) : [],
      finalizedAt: null,
    },
    needs: usageNeeds(charges),
    billed: usageNeeds(charges.filter(charge => !chargesNothing(charge))),
    arrears: window.arrears,
    invoiceId,
    funds,
  }
}

/** Rounded as the platform's setting for predictions says (semantics 0.5). */
function forPrediction(inputs: BillingInputs): BillingInputs {
  const { rounding_settings: settings } = inputs.platform
  const own = settings.find(({ rounding_target }) => rounding_target === 'COST_PREDICTION')
  const rounding_settings = own ? [{ ...own, rounding_target: 'INVOICE' as const }] : []
  return { ...inputs, platform: { ...inputs.platform, rounding_settings } }
}

function windowOf(inputs: BillingInputs, at: Instant): InvoiceWindow | null {
  for (const window of invoiceWindows(inputs)) {
    if (window.arrears !== null && window.arrears.start <= at && at < window.arrears.end) return window
    if (window.opensAt > at) return null
  }
  return null
}

const priced = ({ inputs, request }: Loaded, usage: UsageFigures): InvoiceContent =>
  priceInvoice(inputs, { ...request, usage }).columns.content

function stateOf(
  deps: Pick<BillingDeps, 'database' | 'usage'>,
  loaded: Loaded,
  usage: UsageFigures,
  content: InvoiceContent,
  seen: readonly NewUsage[] = [],
): PredictionState {
  const { inputs, needs, arrears } = loaded
  const currency = inputs.subscription.billing_currency
  const of = { customerId: inputs.customer.id, invoiceId: loaded.invoiceId, currency }
  return {
    covers: at => arrears.start <= at && at < arrears.end,
    lacksTax: content.tax_question?.as_of === null,
    prices: event => needsOf(loaded.billed, event).length > 0,
    unchanged: () => ({ ...noDifference(currency), ...of, wallets: [] }),
    add: async event => {
      const known = new Set([...(await knownValues(deps, loaded, event)), ...seenIn(seen, needs, event)])
      const rates = await ratesFor(deps, loaded, event)
      const figures = withEvent(usage, needs, event, { isKnown: need => known.has(need.key), rates })
      const after = priced(loaded, figures)
      const wallets = predictedWallets(loaded.request, loaded.funds, { before: usesOf(content), after: usesOf(after) })
      const predicted: Predicted = { ...compareInvoices(content, after, currency), ...of, wallets }
      return { predicted, next: stateOf(deps, loaded, figures, after, [...seen, event]) }
    },
  }
}

/** The exchange rates between the currencies of the event's money and of the prices that count it. */
async function ratesFor({ database }: Pick<BillingDeps, 'database'>, { tenant, needs }: Loaded, event: NewUsage) {
  const priced = needsOf(needs, event).flatMap(({ currency, calculation: { value_reference: value } }) => {
    const own = event.values.get(value ?? '')?.currency
    return currency && own && own !== currency ? [currency, own] : []
  })
  if (priced.length === 0) return []
  return await readTenant(database, tenant, uow => loadRates(uow, [...new Set(priced)], event.timestamp))
}

/** The distinct counts that already contain the event's value. */
async function knownValues(
  deps: Pick<BillingDeps, 'database' | 'usage'>,
  { tenant, inputs, needs }: Loaded,
  event: NewUsage,
): Promise<ReadonlySet<string>> {
  const unique = needsOf(needs, event).filter(({ calculation }) => calculation.calculation_type === 'UNIQUE')
  if (unique.length === 0) return new Set()
  const ofValue = unique.map((need): UsageNeed => {
    const { property_reference: reference, property_type: type } = need.calculation
    if (reference === null || type === null) throw new Error(`the calculation ${need.calculation.id} has no property`)
    const tests = [{ reference, type }, ...(need.splitBy ?? [])].map((property): PropertyTest => {
      const value = propertyOf(event.properties, property.reference)
      return value === undefined
        ? { property, comparator: 'EMPTY', values: [] }
        : { property, comparator: 'EQUALS', values: [value] }
    })
    const operands = need.condition ? [need.condition, ...tests] : tests
    return { ...need, splitBy: null, condition: { operator: 'AND', operands } }
  })
  const { usage: found } = await readNeeds(deps, { tenant, inputs, needs: ofValue })
  return new Set([...found].flatMap(([key, figures]) => (figures.some(({ count }) => count > 0) ? [key] : [])))
}

/** The distinct counts in which an event that was added before has the same value. */
const seenIn = (seen: readonly NewUsage[], needs: readonly UsageNeed[], event: NewUsage): string[] =>
  needsOf(needs, event).flatMap(need => {
    const { calculation_type, property_reference: property } = need.calculation
    if (calculation_type !== 'UNIQUE' || property === null) return []
    const same = seen.filter(each => propertyOf(each.properties, property) === propertyOf(event.properties, property))
    return same.some(each => needsOf([need], each).length > 0) ? [need.key] : []
  })
