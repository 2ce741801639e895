// Inputs of invoices for tests: a Dutch seller, a Dutch customer, one plan; each test says what differs.
import type { WalletBalance } from '../../../../shared/billing/steps/clauses.ts'
import { decimal } from '../../../../shared/decimal.ts'
import type { BandInput } from '../../../../shared/rating/parse/parse-price-config.ts'
import { chargesOf } from '../charges/charges.ts'
import { type Deducted, deductedIn } from '../pricing/deducted.ts'
import { type PricedInvoice, priceInvoice } from '../pricing/price-invoice.ts'
import type {
  BillingInputs,
  ConfigInput,
  ProductItemInput,
  ScheduleInput,
  SubscriptionInput,
} from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../terms/windows.ts'
import { type UsageFigure, type UsageNeed, usageNeeds } from '../usage/usage-needs.ts'

export const eur = (quantity: string) => ({ quantity, currency: 'EUR' })

/** A priced item: what is sold and how it is priced. */
export type ExampleItem = {
  readonly item?: Partial<ProductItemInput>
  readonly config?: Partial<ConfigInput>
  readonly bands: readonly BandInput[]
}

/** A recurring FIXED price. */
export const recurring = (quantity: string, config: Partial<ConfigInput> = {}): ExampleItem => ({
  item: { model_type: 'RECURRING' },
  config: { pricing_type: 'FIXED', ...config },
  bands: [{ fixed_amount: eur(quantity) }],
})

/** A metered price. */
export const metered = (bands: readonly BandInput[], config: Partial<ConfigInput> = {}): ExampleItem => ({
  item: { model_type: 'USAGE_BASED', meter_value_calculation_id: 'calc' },
  config: { pricing_type: 'FLAT', ...config },
  bands,
})

export type Example = {
  readonly start: string
  readonly end?: string
  readonly items: readonly ExampleItem[]
  readonly subscription?: Partial<SubscriptionInput>
  readonly schedules?: readonly Partial<ScheduleInput>[]
  readonly inputs?: Partial<BillingInputs>
  readonly amountType?: 'EXCLUDING_TAX' | 'INCLUDING_TAX'
}

const PRODUCT_ITEM: ProductItemInput = {
  id: 'item',
  product_id: 'product',
  reference: null,
  name: 'Tokens',
  type: 'REVENUE',
  model_type: 'RECURRING',
  meter_value_calculation_id: null,
  tax_category: null,
  display_order: null,
  unit_name: null,
}

export function exampleInputs(example: Example): BillingInputs {
  const product_items = example.items.map(({ item }, index) => ({ ...PRODUCT_ITEM, id: `item${index}`, ...item }))
  const schedule: ScheduleInput = {
    id: 'schedule0',
    pricing_plan_id: 'plan',
    pricing_plan_version_id: 'version',
    start_at: example.start,
    end_at: example.end ?? null,
    pricing_currency: 'EUR',
    billing_period: null,
    discount: null,
  }
  return {
    platform: {
      timezone: 'UTC',
      late_event_policy: 'NEXT_INVOICE',
      default_product_tax_category: null,
      invoice_settings: {},
      rounding_settings: [],
    },
    customer: {
      id: 'customer',
      reference: 'acme',
      type: 'ORGANIZATION',
      timezone: null,
      email: null,
      locale: null,
      individual: null,
      organization: { legal_name: 'Acme', tax_id: 'NL1', registered_address: { country: 'NL' } },
    },
    billing_entity: {
      id: 'entity',
      reference: 'main',
      timezone: null,
      legal_name: 'Millrace',
      tax_id: null,
      tax_ids: null,
      registration_number: null,
      registered_address: { country: 'NL' },
      email: null,
      tax_settings: null,
      tax_registrations: null,
    },
    subscription: {
      id: 'subscription',
      status: 'ACTIVE',
      name: null,
      purchase_order_number: null,
      customer_id: 'customer',
      billing_entity_id: 'entity',
      billing_period: { type: 'MONTH', value: 1 },
      billing_currency: 'EUR',
      billing_time: 'CALENDAR',
      billing_anchor: null,
      due_date_configuration: { type: 'PERIOD_AFTER_INVOICE_DATE', period: { type: 'DAY', value: 30 } },
      sales_tax_percentage: null,
      init_invoice_on_hold: false,
      display_invoice_sub_lines_per_processing_only_customer: false,
      inactive_periods: [],
      ...example.subscription,
    },
    schedules: (example.schedules ?? [{}]).map((given, index) => ({ ...schedule, id: `schedule${index}`, ...given })),
    plans: [{ id: 'plan', amount_type: example.amountType ?? 'EXCLUDING_TAX' }],
    pricings: [
      {
        id: 'pricing',
        pricing_plan_version_id: 'version',
        name: 'Standard',
        display_order: null,
        items: example.items.map(({ config, bands }, index) => ({
          id: `priced${index}`,
          product_item_ids: [product_items[index]?.id ?? ''],
          display_order: index,
          configs: [{ id: `config${index}`, pricing_type: 'FIXED', bands, ...config }],
        })),
      },
    ],
    product_items,
    products: [{ id: 'product', name: 'Inference', category_id: null, tax_category: null, display_order: null }],
    product_categories: [],
    calculations: [
      {
        id: 'calc',
        reference: 'tokens_sum',
        calculation_type: 'SUM',
        persist: false,
        meter_reference: 'inference',
        value_reference: 'tokens',
        value_type: 'NUMBER',
        property_reference: null,
        property_type: null,
      },
    ],
    persisted_usages: [],
    condition_names: { properties: [], variables: [] },
    attribution: { customers: [], subscriptions: [] },
    sub_line_customers: [],
    number_fields: [],
    copied_fields: [],
    ...example.inputs,
  }
}

/** Usage with which a test answers a need: the same number for every need, or one by its interval. */
export type ExampleUsage = string | ((need: UsageNeed) => readonly UsageFigure[])

export const plainUsage = (number: string, count = 1): UsageFigure[] => [
  { currency: null, number: decimal(number), count },
]

/** The columns of an invoice, and what it bills in advance. */
export type ExampleInvoice = PricedInvoice['columns'] & Pick<PricedInvoice, 'advanceCharges'>

/** Prices the first `count` invoices that have any charge, each knowing what those before it bill in advance and deduct. */
export function exampleInvoices(
  inputs: BillingInputs,
  count: number,
  usage: ExampleUsage = '0',
  wallets: readonly WalletBalance[] = [],
): ExampleInvoice[] {
  const invoices: ExampleInvoice[] = []
  const terms = resolveTerms(inputs)
  const billed = new Set<string>()
  const deducted: Deducted[] = []
  for (const window of invoiceWindows(inputs)) {
    if (invoices.length >= count) break
    if (chargesOf(terms, window, billed).length === 0) continue
    const { columns, lines, advanceCharges } = priced(inputs, window, { usage, billed, deducted, wallets })
    deducted.push(...deductedIn(`invoice${invoices.length}`, lines))
    invoices.push({ ...columns, advanceCharges })
    for (const key of advanceCharges) billed.add(key)
  }
  return invoices
}

type PricedBy = {
  readonly usage: ExampleUsage
  readonly billed?: ReadonlySet<string>
  readonly deducted?: readonly Deducted[]
  readonly wallets?: readonly WalletBalance[]
}

export function exampleInvoice(inputs: BillingInputs, window: InvoiceWindow, by: PricedBy): ExampleInvoice {
  const { columns, advanceCharges } = priced(inputs, window, by)
  return { ...columns, advanceCharges }
}

function priced(inputs: BillingInputs, window: InvoiceWindow, by: PricedBy): PricedInvoice {
  const { usage, billed = new Set(), deducted = [], wallets = [] } = by
  const terms = resolveTerms(inputs)
  const needs = usageNeeds(chargesOf(terms, window, billed))
  const answer = typeof usage === 'string' ? () => plainUsage(usage) : usage
  return priceInvoice(inputs, {
    terms,
    window,
    billed,
    deducted,
    usage: new Map(needs.map(need => [need.key, answer(need)])),
    wallets,
    finalizedAt: null,
  })
}

/** Every line with its service time: `2026-03-11..2026-04-01 67.74`. */
export const linesOf = (invoice: Pick<ExampleInvoice, 'content'> | undefined): string[] =>
  (invoice?.content.periods ?? []).flatMap(period =>
    period.groups.flatMap(group =>
      group.lines.map(
        line => `${period.start_at.slice(0, 10)}..${period.end_at.slice(0, 10)} ${line.amount_excluding_tax.quantity}`,
      ),
    ),
  )
