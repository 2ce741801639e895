// Computes a one-off invoice from its added lines, and nothing else. Pure after loading.
import type { ReadUow } from '../../../../shared/database/database.ts'
import { at, type Instant, type Interval, instantOf, interval } from '../../../../shared/time.ts'
import { loadNumberFieldsOf } from '../../parties/platforms/number-fields.ts'
import { type AddedLine, draftAddedLine } from '../added-lines/price-added-line.ts'
import { loadCopiedFields } from '../custom-fields/copied-fields.ts'
import {
  loadBillingEntity,
  loadCustomer,
  loadInvoicingSettings,
  loadTaxExchange,
  loadTaxRatesOf,
} from '../document/load-parties.ts'
import { defaultTaxCategory, type Parties } from '../document/parties.ts'
import type { ComputedInvoice } from '../producer.ts'
import type { FundsRequest, Payers } from '../settlement/funds.ts'
import { computeOfLines, type OneOffParties } from './compute-of-lines.ts'
import type { OneOffTerms } from './schema.ts'

type Between = {
  readonly customerId: string
  readonly billingEntityId: string
  readonly terms: Pick<OneOffTerms, 'billing_currency' | 'invoice_date'>
}

/** Throws RESOURCE_NOT_FOUND when the tenant has no such customer or billing entity. */
export async function loadOneOffParties(
  uow: ReadUow,
  { customerId, billingEntityId, terms }: Between,
): Promise<OneOffParties> {
  const platform = await loadInvoicingSettings(uow)
  const between = [{ customerId, billingEntityId }]
  const [number_fields = []] = await loadNumberFieldsOf(uow, platform.invoice_settings, between)
  const both = {
    customer: await loadCustomer(uow, customerId),
    billing_entity: await loadBillingEntity(uow, billingEntityId),
  }
  const since = terms.invoice_date === null ? uow.now : instantOf(Math.min(uow.now, at(terms.invoice_date)))
  const invoiced = { ...both, currency: terms.billing_currency, since }
  const taxRates = await loadTaxRatesOf(uow, [invoiced])
  const taxExchange = await loadTaxExchange(uow, [invoiced])
  const parties: Parties = {
    platform,
    ...both,
    ...taxRates(invoiced),
    ...taxExchange(invoiced),
    number_fields,
  }
  const [copiedFields = []] = await loadCopiedFields(uow, [
    [
      { type: 'CUSTOMER', ids: [customerId] },
      { type: 'BILLING_ENTITY', ids: [billingEntityId] },
    ],
  ])
  return { parties, copiedFields }
}

export type OneOffInput = OneOffParties & {
  readonly terms: OneOffTerms
  readonly lines: readonly AddedLine[]
  /** The wallets that can pay it. */
  readonly payers: Payers
  readonly now: Instant
  /** Null until the invoice becomes FINAL. */
  readonly finalizedAt: Instant | null
}

/** The time that the lines are for. */
function serviceOfLines(lines: readonly AddedLine[]): Interval {
  const starts = lines.map(({ line }) => at(line.start_at))
  const ends = lines.map(({ line }) => at(line.end_at))
  return interval(instantOf(Math.min(...starts)), instantOf(Math.max(...ends)))
}

/** What the invoice needs of wallets. */
export const fundsOfOneOff = (
  { parties, terms, lines }: Pick<OneOffInput, 'parties' | 'terms' | 'lines'>,
  invoiceId: string | null,
): FundsRequest => ({
  customerId: parties.customer.id,
  currency: terms.billing_currency,
  invoiceId,
  service: serviceOfLines(lines),
  billingType: 'DEFAULT',
})

/** The invoice of these lines. Throws INVALID_FIELD when a line cannot be billed in its currency. */
export function computeOneOff({ lines, ...input }: OneOffInput): ComputedInvoice {
  const to = { currency: input.terms.billing_currency, defaultTaxCategory: defaultTaxCategory(input.parties) }
  const drafted = lines.map(line => draftAddedLine(line, to))
  return computeOfLines({ ...input, lines: drafted, service: serviceOfLines(lines) })
}
