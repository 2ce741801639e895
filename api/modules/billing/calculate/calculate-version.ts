// POST /v1/pricing-plan-versions/{id}/calculate: what a whole version would bill a sample customer, as the invoices of
// one billing period. Nothing is stored.
import { localDateOf, startOfLocalDay } from '../../../../shared/billing/local-days.ts'
import type { PeriodLength } from '../../../../shared/billing/periods.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { decimal, decimalOfInteger, max, plain, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { numberVolume } from '../../../../shared/rating/price.ts'
import { eventsOfOneSize } from '../../../../shared/rating/rate-events.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at, formatInstant, type Instant } from '../../../../shared/time.ts'
import { getOne } from '../../../resource/store.ts'
import { groupsOf } from '../../catalog/pricing-groups/load-groups.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import type { Pricing, PricingPlanVersion } from '../../catalog/pricing-plans/table.ts'
import { missingPriceOf } from '../../catalog/pricing-plans/variants/coverage.ts'
import { periodText } from '../../catalog/pricing-plans/variants/period-length.ts'
import { settingsShown } from '../../catalog/pricing-plans/variants/settings.ts'
import { pricingsOf } from '../../catalog/pricing-plans/version-pricings.ts'
import { loadBillingEntities, loadTaxRatesOf } from '../../invoices/document/load-parties.ts'
import { type BillingEntityInput, type CustomerInput, zoneOfParties } from '../../invoices/document/parties.ts'
import { loadRates } from '../../parties/exchange-rates/load-rates.ts'
import { platformResource } from '../../parties/platforms/platform.ts'
import type { Charge } from '../charges/charge.ts'
import { chargesOf } from '../charges/charges.ts'
import { tieringTime } from '../charges/usage-steps.ts'
import { previewView } from '../preview/preview-invoices.ts'
import { priceInvoice } from '../pricing/price-invoice.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { loadCatalog } from '../terms/load/load-catalog.ts'
import { loadPlatform } from '../terms/load/load-inputs.ts'
import { isRatedPerEvent, type PriceTerm, resolveTerms } from '../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../terms/windows.ts'
import { needKey, tieringKey, type UsageFigure, usageNeeds } from '../usage/usage-needs.ts'
import type { CalculatedVersion, CalculateVersionBody, ImaginedCustomer, VersionQuantity } from './schema.ts'
import { triedPricings } from './tried-pricings.ts'

const refuse = (field: string, message: string): AppError => new AppError('INVALID_FIELD', message, { field })

/**
 * The invoices of the first billing period, computed by the code that bills. Throws RESOURCE_NOT_FOUND for an unknown
 * version, billing entity or price. Throws INVALID_FIELD or MISSING_FIELD, with the field path, for a price that cannot
 * be billed.
 */
export async function calculateVersion(
  uow: ReadUow,
  { id, body, tenant, now }: { id: string; body: CalculateVersionBody; tenant: Tenant; now: Instant },
): Promise<CalculatedVersion> {
  const inputs = await imaginedInputs(uow, { id, body, now })
  const terms = resolveTerms(inputs)
  checkNamed(terms, body.meter_values ?? [])
  const billed = new Set<string>()
  const invoices: CalculatedVersion['invoices'] = []
  for (const window of firstPeriod(inputs)) {
    const charges = chargesOf(terms, window, billed)
    if (charges.length === 0) continue
    const usage = figuresOf(charges, body.meter_values ?? [])
    const invoice = priceInvoice(inputs, { terms, window, billed, usage, finalizedAt: null })
    for (const key of invoice.advanceCharges) billed.add(key)
    invoices.push(previewView(inputs, invoice, { tenant, now }))
  }
  return { object_type: 'PRICING_PLAN_VERSION_CALCULATION', pricing_plan_version_id: id, invoices }
}

/** What is billed at the start of the period and at its end, without what is charged ahead for the next period. */
function firstPeriod(inputs: BillingInputs): InvoiceWindow[] {
  const windows = invoiceWindows(inputs)
  const [start, end] = [windows.next().value, windows.next().value]
  return [...(start ? [start] : []), ...(end ? [{ ...end, advance: null }] : [])]
}

async function imaginedInputs(
  uow: ReadUow,
  { id, body, now }: { readonly id: string; readonly body: CalculateVersionBody; readonly now: Instant },
): Promise<BillingInputs> {
  const version = await getOne(uow, pricingPlanVersionResource, id)
  const catalog = (await loadCatalog(uow, [{ pricing_plan_id: version.pricing_plan_id, pricing_plan_version_id: id }]))(
    [{ pricing_plan_id: version.pricing_plan_id, pricing_plan_version_id: id }],
  )
  const pricings = await pricingsOf(uow, [id])
  const { pricing_currency: currency, billing_period, foreign } = soldAs(version, pricings, body)
  const billing_entity = await entityOf(uow, body)
  const platform = await loadPlatform(uow)
  const customer = imagined(body.customer ?? null, billing_entity)
  const asking = { customer, billing_entity, since: now }
  // A tax engine is asked about customers that there are.
  const { tax_answers: _none, ...rates } = (await loadTaxRatesOf(uow, [asking]))(asking)
  const zone = zoneOfParties({ customer, billing_entity, platform })
  const start = body.start_at ? at(body.start_at) : startOfLocalDay(localDateOf(now, zone), zone)
  return {
    platform,
    customer,
    billing_entity,
    ...rates,
    number_fields: [],
    subscription: {
      id: 'imagined',
      status: 'DRAFT',
      name: null,
      purchase_order_number: null,
      customer_id: customer.id,
      billing_entity_id: billing_entity.id,
      billing_period,
      billing_currency: currency,
      billing_time: 'EXACT',
      billing_anchor: null,
      due_date_configuration: { type: 'PERIOD_AFTER_INVOICE_DATE', period: { type: 'DAY', value: 30 } },
      sales_tax_percentage: body.customer?.sales_tax_percentage ?? null,
      init_invoice_on_hold: false,
      display_invoice_sub_lines_per_processing_only_customer: false,
      inactive_periods: [],
    },
    schedules: [
      {
        id: 'imagined',
        pricing_plan_id: version.pricing_plan_id,
        pricing_plan_version_id: id,
        start_at: formatInstant(start),
        end_at: null,
        pricing_currency: currency,
        billing_period: null,
        discount: null,
        enabled_pricings: triedPricings({ pricings, groups: await groupsOf(uow, [id]) }, body.meter_values ?? []),
      },
    ],
    ...catalog,
    ...(foreign.length > 0 ? { exchange_rates: await loadRates(uow, [currency, ...foreign], start) } : {}),
    persisted_usages: [],
    attribution: { customers: [], subscriptions: [] },
    copied_fields: [],
    sub_line_customers: [],
  }
}

const MONTH: PeriodLength = { type: 'MONTH', value: 1 }

/** The currency and the billing period to calculate: those in the request, else the first that the version is sold in. */
function soldAs(version: PricingPlanVersion, pricings: readonly Pricing[], body: CalculateVersionBody) {
  const items = pricings.flatMap(pricing => pricing.items)
  const { pricing_currency_settings: currencies, billing_period_settings: periods } = settingsShown(version, items)
  const pricing_currency = body.pricing_currency ?? currencies?.default_pricing_currency
  if (!pricing_currency && items.length > 0) {
    const message = 'No price of the version names a currency; give the one to calculate in.'
    throw new AppError('MISSING_FIELD', message, { field: 'pricing_currency' })
  }
  if (!pricing_currency) {
    const message = 'The version has no price yet.'
    throw new AppError('INVALID_OPERATION', message, { resourceId: version.id, resourceType: 'PRICING_PLAN_VERSION' })
  }
  /** The currencies of fallbacks, whose prices are converted. */
  const foreign = new Set<string>()
  const billing_period = body.billing_period ?? periods?.billing_periods[0]?.period ?? MONTH
  for (const item of items) {
    const lack = missingPriceOf(item, { currency: pricing_currency, billingPeriod: billing_period })
    if (lack?.kind === 'FALLBACK') foreign.add(lack.to)
    if (!lack || lack.kind === 'FALLBACK') continue
    const sold = lack.kind === 'BILLING_PERIOD' ? lack.sold.map(periodText) : lack.sold
    const field = lack.kind === 'BILLING_PERIOD' ? 'billing_period' : 'pricing_currency'
    throw refuse(field, `A price of the version is only for ${sold.join(', ')}; choose that.`)
  }
  return { pricing_currency, billing_period, foreign: [...foreign] }
}

async function entityOf(uow: ReadUow, { billing_entity_id: given }: CalculateVersionBody): Promise<BillingEntityInput> {
  const id = given ?? (await getOne(uow, platformResource, uow.tenant.platformId)).default_billing_entity_id
  if (!id) {
    const message = 'The platform has no default_billing_entity_id; say which billing entity sells.'
    throw new AppError('MISSING_FIELD', message, { field: 'billing_entity_id' })
  }
  const entity = (await loadBillingEntities(uow, [id])).get(id)
  if (entity) return entity
  throw new AppError('RESOURCE_NOT_FOUND', `There is no billing entity ${JSON.stringify(id)}.`, {
    field: 'billing_entity_id',
    resourceType: 'BILLING_ENTITY',
  })
}

/** A sample customer; without a country in the request, one in the country of the seller. */
function imagined(given: ImaginedCustomer | null, { registered_address }: BillingEntityInput): CustomerInput {
  const country = given?.country ?? registered_address?.country ?? null
  const address = { country, state: given?.state ?? null, postal_code: given?.postal_code ?? null }
  const type = given?.type ?? 'ORGANIZATION'
  return {
    id: 'imagined',
    reference: null,
    type,
    timezone: null,
    email: null,
    locale: null,
    individual: type === 'INDIVIDUAL' ? { residential_address: address } : null,
    organization:
      type === 'ORGANIZATION'
        ? { registered_address: address, ...(given?.tax_id ? { tax_id: given.tax_id } : {}) }
        : null,
  }
}

/** Every usage figure that the charges read: the quantities in the request, and zero for prices without one. */
function figuresOf(charges: readonly Charge[], given: readonly VersionQuantity[]): Map<string, readonly UsageFigure[]> {
  const figures = new Map<string, readonly UsageFigure[]>()
  const said = new Map<string, number>()
  for (const charge of charges) {
    const index = given.findIndex(({ pricing_item_config_id: id }) => id === charge.config.id)
    const quantity = given[index]
    if (!quantity || !charge.usage) continue
    const field = `meter_values.${index}`
    const key = needKey(charge, charge.usage)
    const before = given[said.get(key) ?? index]
    if (before && (before.number !== quantity.number || before.amount?.quantity !== quantity.amount?.quantity)) {
      const message = `The price ${before.pricing_item_config_id} has the same usage; give both the same quantity.`
      throw refuse(field, message)
    }
    said.set(key, index)
    // A price that is split by property values is calculated as if all usage had one value.
    const split = charge.split && { split: charge.split.map(() => null) }
    const figure = figureOf(charge, quantity, field)
    const count = isRatedPerEvent(charge) ? equalEvents(figure, quantity, field) : figure.count
    figures.set(key, [{ ...figure, count, ...split }])
    const time = charge.tiering && tieringTime(charge, charge.tiering)
    if (time && quantity.tiering_number) {
      const number = decimal(quantity.tiering_number)
      // What decides on a tier is a number of units, or of events.
      const tier = { currency: null, number, count: Number(plain(max(number.round(0, 0), ZERO))) }
      const currency = charge.tiering.calculation.value_type === 'AMOUNT' ? charge.schedule.pricing_currency : null
      figures.set(tieringKey(charge, charge.tiering, time.now), [{ ...tier, currency }])
    }
  }
  for (const { key } of usageNeeds(charges)) if (!figures.has(key)) figures.set(key, [])
  return figures
}

/** Where each event is priced on its own, they are of one size; without a count it is one event. */
function equalEvents({ number, count }: UsageFigure, { count: given }: VersionQuantity, field: string): number {
  const times = given ? count : 1
  if (eventsOfOneSize(numberVolume(number), decimalOfInteger(times))) return times
  throw refuse(`${field}.count`, `${plain(number)} is not ${times} equal events; give a count that divides it.`)
}

function figureOf(charge: Charge, { number, amount, count }: VersionQuantity, field: string): UsageFigure {
  const currency = charge.schedule.pricing_currency
  const isMoney = charge.calculation?.value_type === 'AMOUNT'
  if (isMoney ? number : amount) {
    const wanted = isMoney ? 'money: give amount' : 'numbers: give number'
    throw refuse(`${field}.${isMoney ? 'number' : 'amount'}`, `The price meters ${wanted}.`)
  }
  if (amount && amount.currency !== currency) {
    throw refuse(`${field}.amount.currency`, `The price is in ${currency}; give the money in it.`)
  }
  const text = amount?.quantity ?? number
  if (!text) {
    const name = isMoney ? 'amount' : 'number'
    throw new AppError('MISSING_FIELD', `Give ${name}.`, { field: `${field}.${name}` })
  }
  const events = decimal(count ?? '0')
  if (events.lt('0') || !events.eq(events.round(0, 0)) || events.gt(String(Number.MAX_SAFE_INTEGER))) {
    throw refuse(`${field}.count`, 'A count of events is a whole number, 0 or more.')
  }
  return { currency: isMoney ? currency : null, number: decimal(text), count: Number(events.toFixed(0)) }
}

/** Refuses a quantity for a price that the version does not have or that is not metered. */
function checkNamed(terms: readonly PriceTerm[], given: readonly VersionQuantity[]): void {
  for (const [index, { pricing_item_config_id: id }] of given.entries()) {
    const field = `meter_values.${index}.pricing_item_config_id`
    const term = terms.find(({ config }) => config.id === id)
    if (!term) throw new AppError('RESOURCE_NOT_FOUND', `The version has no price ${JSON.stringify(id)}.`, { field })
    if (!term.calculation) throw refuse(field, 'The price is not metered, so it has no quantity.')
    if (given.findIndex(each => each.pricing_item_config_id === id) !== index) {
      throw refuse(field, 'The quantity of this price is given twice.')
    }
  }
}
