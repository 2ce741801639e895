// What a producer hands over: an invoice before its amounts are rounded, taxed and laid out. The document does not know
// where its lines come from; it stores what each line refers to (invoice_lines).
import type { AmountType } from '../../../../shared/billing/amount-pipeline.ts'
import type { PeriodLength } from '../../../../shared/billing/periods.ts'
import type { CategoryTax, TaxCategory } from '../../../../shared/billing/tax/tax.ts'
import type { Decimal } from '../../../../shared/decimal.ts'
import type { Instant, Interval } from '../../../../shared/time.ts'
import type { CopiedFieldView, CustomerView, LineView, PriceDetailsView } from '../schema.ts'
import type { BillingType } from '../table.ts'
import type { InvoiceDates } from './invoice-dates.ts'
import type { NamedCustomer, Parties } from './parties.ts'
import type { PrepaidBalance } from './pay-from-balances.ts'

/** What a line refers to, from wide to narrow; null where it refers to nothing. */
export type LineScope = {
  readonly subscriptionId: string | null
  readonly scheduleId: string | null
  readonly categoryId: string | null
  readonly productId: string | null
  readonly productItemId: string | null
  readonly pricingId: string | null
  readonly pricingItemId: string | null
  readonly configId: string | null
}

/** Of a line that is sold by no subscription and is no item of the catalog. */
export const NO_SCOPE: LineScope = {
  subscriptionId: null,
  scheduleId: null,
  categoryId: null,
  productId: null,
  productItemId: null,
  pricingId: null,
  pricingItemId: null,
  configId: null,
}

type Named = { readonly id: string; readonly name: string }

/** Lines of one group appear together under its heading. */
export type LineGroup = {
  /** Null for what is charged once. */
  readonly billingPeriod: PeriodLength | null
  /** Null for lines without a single pricing: discounts on the total or on several pricings, and added lines. */
  readonly pricing: Named | null
  readonly category: Named | null
  readonly product: Named | null
  readonly scheduleId: string | null
  readonly subscriptionId: string | null
  /** For lines that wallets pay. */
  readonly isPayment?: true
}

/** The same for all lines of a group. */
export const groupKey = ({ scheduleId, pricing, category, isPayment }: LineGroup): string =>
  [scheduleId ?? '', pricing?.id ?? '', category?.id ?? '', ...(isPayment ? ['payment'] : [])].join(' ')

/** Of a line that stands under no heading. */
export const NO_GROUP: LineGroup = {
  billingPeriod: null,
  pricing: null,
  category: null,
  product: null,
  scheduleId: null,
  subscriptionId: null,
}

/** Members of a line that are printed as they are given. */
export type PrintedMembers = Pick<
  LineView,
  'pricing_item_id' | 'pricing_item_config_id' | 'product_items' | 'pricing_type' | 'conditions' | 'meter_value'
> &
  Pick<
    LineView,
    'late_for_invoice_id' | 'discount_type' | 'commitment_type' | 'clause' | 'coupon_data' | 'applicable_for_clauses'
  >

export type DraftLine = {
  /** The same for the same line whenever it is computed; unique on its invoice. Its id follows from it. */
  readonly key: string
  readonly kind: LineView['type']
  readonly of: LineScope
  /** In the invoice currency, negative for deductions; with tax when the prices include it. */
  readonly quantity: Decimal
  readonly taxCategory: TaxCategory
  /** The tax that it carries, where that need not be the invoice's: a refund has that of its fee. */
  readonly tax?: CategoryTax
  /** The time the line pays for. */
  readonly service: Interval
  readonly group: LineGroup
  readonly description: string
  readonly printed: PrintedMembers
  /** How the amount came about; the amount itself is added when it is known. */
  readonly details: Omit<PriceDetailsView, 'amount'>
  /** What the producer needs to read back with the line: stored with it, and not printed. */
  readonly source: Readonly<Record<string, unknown>>
}

/** Something a reader must know before the invoice becomes FINAL; an ERROR prevents that. */
export type Finding = { readonly status: 'ERROR' | 'WARNING'; readonly details: string }

export type DraftInvoice = {
  readonly parties: Parties
  readonly currency: string
  readonly amountType: AmountType
  readonly dates: InvoiceDates
  readonly purchaseOrderNumber: string | null
  readonly salesTaxPercentage: string | null
  /** DEFAULT unless it is given. */
  readonly billingType?: BillingType
  readonly lines: readonly DraftLine[]
  /** Wallets that can pay it after tax, in order of use. */
  readonly balances: readonly PrepaidBalance[]
  readonly findings: readonly Finding[]
  readonly subscriptionIds: readonly string[]
  /** Of an invoice for several subscriptions: the invoices of each. */
  readonly combinedIds?: readonly string[]
  /** The customer that uses what is sold, where another gets the invoice. */
  readonly forwardedFrom?: NamedCustomer
  /** The billing period and its end, for an invoice that has one. */
  readonly period: { readonly length: PeriodLength; readonly cutoffAt: Instant } | null
  readonly hasUsage: boolean
  /** Copied custom fields that it shows. */
  readonly copiedFields: readonly CopiedFieldView[]
}

/** The other customers named in its lines; null where lines name none. */
export type NamedOnLines = readonly CustomerView[] | null
