// Where a line of an invoice comes from: usage, price, and every step from there to the printed amount. Pure.
import type { TaxDecided, TaxTreatment } from '../../../../shared/billing/tax/tax.ts'
import { plain } from '../../../../shared/decimal.ts'
import { formatInstant } from '../../../../shared/time.ts'
import type { PricingBand } from '../../catalog/pricing-plans/schema.ts'
import { lineId } from '../../invoices/document/lay-out.ts'
import type { LineView } from '../../invoices/schema.ts'
import type { InvoiceRow } from '../../invoices/table.ts'
import { isOverridden } from '../../subscriptions/overrides/merge-overrides.ts'
import { priceParts } from '../pricing/price-invoice.ts'
import { chargeSteps, clauseSteps } from './line-steps.ts'
import type { Basis } from './reprice.ts'
import type { LineExplanation } from './schema.ts'

/** Explains a line by what its invoice is priced from; `basis` is null for an invoice that is for no subscription. */
export function explainLine(row: InvoiceRow, line: LineView, basis: Basis | null): LineExplanation {
  const parts = basis && priceParts(basis.inputs, basis.request)
  const draft = parts?.draft.lines.find(({ key }) => lineId(key) === line.id)
  const charge = draft && parts?.rated.onInvoice.find(each => each.charge.key === draft.key)
  const made = draft && parts?.steps.find(each => each.key === draft.key)
  const printed = draft && parts ? parts.amounts.printed(draft.key) : null
  const including = row.content.pricing_amount_type === 'INCLUDING_TAX'
  const shown = (including ? line.amount_including_tax : line.amount_excluding_tax).quantity
  const money = { currency: row.billing_currency, rounding: row.content.rounding_mode }
  return {
    object_type: 'INVOICE_LINE_EXPLANATION',
    invoice_id: row.id,
    invoice_line_id: line.id,
    description: line.description,
    amount_excluding_tax: line.amount_excluding_tax,
    amount_including_tax: line.amount_including_tax,
    is_current: basis === null || (printed !== null && parts?.amounts.show(printed).quantity === shown),
    usage: basis && charge ? usageView(basis, charge) : null,
    price: charge ? priceView(charge) : null,
    steps: [
      ...(charge
        ? chargeSteps(charge, money)
        : [
            {
              step: 'LINE' as const,
              description: line.details.description,
              amount: { quantity: shown, currency: row.billing_currency },
            },
          ]),
      ...(made ? clauseSteps(made, parts?.steps ?? [], money) : []),
    ],
    taxes: taxesOf(row, line, {
      decision: draft?.tax ? null : (parts?.amounts.tax.decision ?? null),
      isRefund: draft?.tax !== undefined,
    }),
  }
}

type Rated = ReturnType<typeof priceParts>['rated']['onInvoice'][number]

function usageView({ positions }: Basis, { charge, metered }: Rated): LineExplanation['usage'] {
  const { calculation, config, usage } = charge
  if (!calculation || !usage) return null
  return {
    calculation_id: calculation.id,
    calculation_reference: calculation.reference,
    calculation_type: calculation.calculation_type,
    meter_reference: calculation.meter_reference,
    meter_value_reference: calculation.value_reference,
    meter_property_reference: calculation.property_reference,
    conditions: config.conditions ?? null,
    start_at: formatInstant(usage.start),
    end_at: formatInstant(usage.end),
    quantity: plain(metered.quantity),
    number_of_events: plain(metered.count),
    log_positions: positions && [...positions],
  }
}

const priceView = ({ charge }: Rated): LineExplanation['price'] => ({
  // Prices that a schedule has of its own are in no version of a plan.
  pricing_plan_id: charge.schedule.own_version_id === charge.schedule.pricing_plan_version_id ? null : charge.plan.id,
  pricing_plan_version_id:
    charge.schedule.own_version_id === charge.pricing.pricing_plan_version_id
      ? null
      : charge.pricing.pricing_plan_version_id,
  pricing_plan_schedule_id: charge.schedule.id,
  pricing_id: charge.pricing.id,
  pricing_item_id: charge.item.id,
  pricing_item_config_id: charge.config.id,
  is_overridden: isOverridden(charge.schedule.override_pricings, charge),
  pricing_type: charge.config.pricing_type,
  pricing_currency: charge.schedule.pricing_currency,
  billing_period: { ...charge.billingPeriod },
  pricing_period: { ...charge.pricingPeriod },
  // Prices are stored in the very shape they are sent in.
  bands: (charge.config.bands ?? []).map(band => ({ ...band }) as PricingBand),
})

const RULES: Readonly<Record<TaxTreatment, string>> = {
  LOCAL_RATE: 'Seller and customer are in one country: its rate applies.',
  BUYER_COUNTRY_RATE: 'An individual in a country in which the seller is registered: the rate of that country applies.',
  SELLER_COUNTRY_RATE:
    "A customer in another country of the European Union without a tax id: the seller's rate applies.",
  SALES_TAX: 'The percentage that the subscription or the invoice gives applies.',
  REVERSE_CHARGE:
    'A business in another country of the European Union accounts for the tax itself (Article 196 of Council Directive 2006/112/EC).',
  EXPORT: 'Supplied to a customer outside the tax territory of the seller: no tax.',
  BUYER_EXEMPT: 'The customer is exempt from tax.',
  TAX_ENGINE: 'The tax engine that the billing entity uses decided it.',
  NOT_COVERED: 'What decides the tax is missing, so no tax is charged.',
}
const RATED: readonly TaxTreatment[] = ['LOCAL_RATE', 'BUYER_COUNTRY_RATE', 'SELLER_COUNTRY_RATE', 'TAX_ENGINE']

/** The tax rule that follows from the parties on the document, and the source of its rate. */
function taxesOf(
  { content }: InvoiceRow,
  line: LineView,
  { decision, isRefund }: { readonly decision: TaxDecided | null; readonly isRefund: boolean },
): LineExplanation['taxes'] {
  const treatment = decision?.treatment ?? null
  const country = content.tax_summary.country_code ?? null
  return line.tax_categories.map(({ category, name, percentage, base_amount, tax_amount }) => {
    const standard = category === 'STANDARD'
    const isRated = standard && treatment !== null && RATED.includes(treatment)
    const rule = standard
      ? treatment === null
        ? isRefund
          ? 'A refund carries the tax that the fee carried.'
          : 'As on the document.'
        : RULES[treatment]
      : category === 'NO_TAX'
        ? 'What is sold is not subject to tax.'
        : 'What is sold is exempt from tax.'
    return {
      ...{ category, name, percentage, base_amount, tax_amount },
      treatment: standard ? (treatment ?? 'AS_ISSUED') : category,
      rule,
      country: isRated ? country : null,
      source: isRated ? decision?.sources.join('; ') || null : null,
    }
  })
}
