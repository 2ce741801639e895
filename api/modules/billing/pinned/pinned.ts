// What an invoice was priced from besides usage, as text that decodes to exactly the same values.
import { createHash } from 'node:crypto'
import { type ExchangeRate, RATE_DAYS_MAX } from '../../../../shared/billing/exchange/exchange-rates.ts'
import type { WalletBalance } from '../../../../shared/billing/steps/clauses.ts'
import type { StoredTaxAnswer } from '../../../../shared/billing/tax/tax-engine.ts'
import type { CreditPart } from '../../../../shared/billing/wallets/credits.ts'
import { decode, encode } from '../../../../shared/json/exact-json.ts'
import { at, type Instant } from '../../../../shared/time.ts'
import type { AddedLine } from '../../invoices/added-lines/price-added-line.ts'
import type { PrepaidBalance } from '../../invoices/document/pay-from-balances.ts'
import type { LateCharge, LateUnit } from '../late/late-usage.ts'
import type { Deducted } from '../pricing/deducted.ts'
import type { PastRules } from '../pricing/past-rules.ts'
import type { Refund } from '../refunds/refunds.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { jsonOfMembers } from '../terms/json-of-members.ts'
import type { InvoiceWindow } from '../terms/windows.ts'
import type { UsageFigures } from '../usage/usage-needs.ts'

type Asked = {
  readonly window: InvoiceWindow
  readonly billed: ReadonlySet<string>
  readonly finalizedAt: Instant | null
}

/** The input of pricing, without usage and without what follows from the billing inputs. */
export type PinnedRequest = Asked & {
  /** Absent where no discount of an amount was deducted on another invoice. */
  readonly deducted?: readonly Deducted[]
  readonly refunds: readonly Refund[]
  readonly wallets: readonly WalletBalance[]
  /** Absent where nothing is priced in credits. */
  readonly credits?: readonly CreditPart[]
  /** Absent where nothing is paid after tax. */
  readonly balances?: readonly PrepaidBalance[]
  readonly added: readonly AddedLine[]
  /** Absent for the rules of the time. */
  readonly rules?: PastRules
  /** Closed units with late usage. */
  readonly late: readonly LateUnit[]
  /** The rates by which usage in other currencies was converted; absent where none was. */
  readonly usageRates?: readonly ExchangeRate[]
}

type Request = Asked &
  Partial<Pick<PinnedRequest, 'deducted' | 'refunds' | 'wallets' | 'credits' | 'balances' | 'added' | 'rules'>> & {
    readonly late?: readonly LateCharge[]
    readonly usage?: UsageFigures
  }

/** For an invoice that becomes FINAL. */
export type Pin = { readonly invoiceId: string; readonly inputs: BillingInputs; readonly request: PinnedRequest }

/** The members of a request that are stored. */
export function pinnedRequest(request: Request): PinnedRequest {
  const { window, billed, finalizedAt, refunds = [], wallets = [], credits = [], balances = [] } = request
  const { added = [], late = [], usage = new Map(), deducted = [] } = request
  const units = late.map(({ unit }): LateUnit => {
    const { invoice_id, positions, customer_keys } = unit.counted
    return { ...unit, counted: { invoice_id, positions, customer_keys } }
  })
  const drawn = credits.length === 0 ? {} : { credits }
  const paid = balances.length === 0 ? {} : { balances }
  const rates = ratesOfUsage(usage, units)
  const converted = rates.length === 0 ? {} : { usageRates: rates }
  const past = request.rules ? { rules: request.rules } : {}
  const taken = deducted.length === 0 ? {} : { deducted }
  return {
    window,
    billed,
    finalizedAt,
    ...past,
    ...taken,
    refunds,
    wallets,
    ...drawn,
    ...paid,
    added,
    late: units,
    ...converted,
  }
}

/** Each once. Those of late usage, which are kept with it too, come last: the first rate of a pair and a time converts. */
function ratesOfUsage(usage: UsageFigures, late: readonly LateUnit[]): ExchangeRate[] {
  const textOf = ({ base_currency, currency, rate_timestamp, rate }: ExchangeRate): string =>
    `${base_currency} ${currency} ${rate_timestamp} ${rate}`
  const held = [...usage.values()].flat().flatMap(({ exchange }) => exchange?.held ?? [])
  const once = new Map(held.map(rate => [textOf(rate), rate]))
  const ofLate = new Set(late.flatMap(({ last }) => last.usage_rates ?? []).map(textOf))
  return [false, true].flatMap(isLate =>
    [...once].filter(([text]) => ofLate.has(text) === isLate).map(([, rate]) => rate),
  )
}

const DAY_MS = 86_400_000
/** More than from the start of a local day, in any timezone, to the end of the day after it. */
const SLACK_MS = 3 * DAY_MS

/**
 * The rates by which the tax of the invoice may have been stated: those around the times by which it may be dated, whatever the
 * settings. Without any of them one other stays, because an invoice says that all known rates are too old.
 */
function taxRatesOf(rates: readonly ExchangeRate[], asked: Asked): readonly ExchangeRate[] {
  const times = timesOf(asked)
  const usable = rates.filter(({ rate_timestamp }) => {
    const from = at(rate_timestamp)
    return times.some(time => time - RATE_DAYS_MAX * DAY_MS - SLACK_MS <= from && from <= time + SLACK_MS)
  })
  return usable.length === 0 ? rates.slice(-1) : usable
}

/** The times by which the invoice may be dated. */
function timesOf({ window, finalizedAt }: Asked): Instant[] {
  const { arrears, advance, cutoffAt } = window
  const dated = [arrears?.start, arrears?.end, advance?.start, advance?.end, cutoffAt, finalizedAt ?? cutoffAt]
  return dated.filter(time => time !== undefined)
}

/** The answers about the days around those times. */
const taxAnswersOf = (answers: readonly StoredTaxAnswer[], asked: Asked): readonly StoredTaxAnswer[] =>
  answers.filter(({ on }) => timesOf(asked).some(time => Math.abs(at(`${on}T00:00:00Z`) - time) <= SLACK_MS))

/** What many subscriptions have in common. */
const CATALOG = [
  'platform',
  'plans',
  'pricings',
  'product_items',
  'products',
  'product_categories',
  'calculations',
  'condition_names',
] as const satisfies readonly (keyof BillingInputs)[]

export type PinnedTexts = {
  readonly catalogHash: string
  readonly catalog: string
  readonly inputs: string
  readonly request: string
}

/** A pin as stored. */
export function textsOf({ inputs, request }: Pick<Pin, 'inputs' | 'request'>): PinnedTexts {
  const shared: readonly string[] = CATALOG
  const { tax_exchange_rates: rates, tax_answers: answers } = inputs
  const kept = {
    ...inputs,
    ...(rates ? { tax_exchange_rates: taxRatesOf(rates, request) } : {}),
    ...(answers ? { tax_answers: taxAnswersOf(answers, request) } : {}),
  }
  const own = Object.fromEntries(Object.entries(kept).filter(([name]) => !shared.includes(name)))
  return { ...catalogTextOf(inputs), inputs: jsonOfMembers(own), request: encode(request) }
}

type CatalogText = Pick<PinnedTexts, 'catalogHash' | 'catalog'>

/** The texts of catalogs, by their prices. */
const catalogs = new WeakMap<object, { readonly members: readonly unknown[]; readonly text: CatalogText }>()

/** Of subscriptions that are read together the catalog is mostly the same, and has tens of kilobytes. */
function catalogTextOf(inputs: BillingInputs): CatalogText {
  const members = CATALOG.map(name => inputs[name])
  const known = catalogs.get(inputs.pricings)
  if (known?.members.every((member, place) => member === members[place])) return known.text
  const catalog = jsonOfMembers(Object.fromEntries(CATALOG.map((name, place) => [name, members[place]])))
  const text = { catalogHash: createHash('sha256').update(catalog).digest('hex'), catalog }
  catalogs.set(inputs.pricings, { members, text })
  return text
}

/** What many subscriptions have in common, as decoded. */
export type PinnedCatalog = Pick<BillingInputs, (typeof CATALOG)[number]>
export const catalogOf = (text: string): PinnedCatalog => JSON.parse(text)

/** A pin as decoded. */
export const pinOf = ({
  catalog,
  inputs,
  request,
}: Pick<PinnedTexts, 'inputs' | 'request'> & { readonly catalog: PinnedCatalog }): {
  readonly inputs: BillingInputs
  readonly request: PinnedRequest
} => ({
  inputs: { ...JSON.parse(inputs), ...catalog },
  request: decode(request) as PinnedRequest,
})
