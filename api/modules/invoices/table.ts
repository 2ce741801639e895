import { boolean, pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../shared/ids.ts'
import { decimalText, tenantColumns, timestamp, wireJson } from '../../resource/columns.ts'
import type { CustomFieldView } from '../../resource/custom-fields/schema.ts'
import type { ChargeGrant } from './charge-grants.ts'
import type { CreditTerms } from './credits/schema.ts'
import type { OneOffTerms } from './one-off/schema.ts'
import type { InvoiceType, PaymentStatus } from './settlement/settlement.ts'
import { invoiceContent } from './stored-content.ts'

export type InvoiceStatus = 'OPEN' | 'DRAFT' | 'FINAL' | 'VOID' | 'ARCHIVED'

export type BillingType = 'DEFAULT' | 'SELF_BILLING'

/** What is bought on demand: the schedule whose prices apply, the day it is delivered on, and what was ordered. */
export type OnDemandTerms = {
  readonly id: string
  readonly pricing_plan_schedule_id: string
  readonly start_at: string
  readonly service_start: string
  readonly service_end: string
  readonly items: readonly OnDemandItem[]
}

/** A count; only `number` is taken. */
type Units = { readonly number?: string | null; readonly amount?: unknown; readonly count?: unknown }

/** An ordered item: how many units of a FLAT price, or the chosen amount of a FLEXIBLE one. */
export type OnDemandItem = {
  readonly pricing_item_id: string
  readonly units?: Units | null | undefined
  readonly flexible_amount?: { readonly quantity: string; readonly currency: string } | null | undefined
}

export const invoices = pgTable('invoices', {
  ...tenantColumns<'invo'>(),
  invoice_number: text(),
  status: text().$type<InvoiceStatus>().notNull(),
  /** The name of its producer. */
  producer: text().notNull(),
  type: text().$type<InvoiceType>().notNull(),
  billing_type: text().$type<BillingType>().notNull(),
  customer_id: text().$type<Id<'cust'>>().notNull(),
  billing_entity_id: text().$type<Id<'bill'>>().notNull(),
  // For an invoice for a period of a subscription: that period, and how it is cut.
  pricing_plan_subscription_id: text().$type<Id<'ppsu'>>(),
  period_start: timestamp(),
  period_end: timestamp(),
  advance_only: boolean(),
  cutoff_at: timestamp(),
  usage_from: timestamp(),
  invoice_date: timestamp(),
  delivery_date: timestamp(),
  due_date: timestamp(),
  billing_currency: text().notNull(),
  timezone: text().notNull(),
  amount_excluding_tax: decimalText().notNull(),
  tax_amount: decimalText().notNull(),
  amount_including_tax: decimalText().notNull(),
  sales_tax_percentage: decimalText(),
  on_hold: boolean().notNull(),
  payment_status: text().$type<PaymentStatus>().notNull(),
  /** The invoice that a credit note credits, or that a copy was made from. */
  original_invoice_id: text().$type<Id<'invo'>>(),
  /** The FINAL invoice that an ARCHIVED one was issued in, with those of other subscriptions. */
  combined_into_id: text().$type<Id<'invo'>>(),
  /** The members that only a credit note has; null for others. */
  credit: wireJson<CreditTerms>(),
  // With tax: its FINAL credit notes, its recorded payments, and the amount marked as paid without one.
  credited_amount: decimalText().notNull(),
  paid_amount: decimalText().notNull(),
  settled_amount: decimalText().notNull(),
  /** What wallets of type BALANCE pay of it, with tax: held until it is FINAL. */
  wallet_amount: decimalText().notNull(),
  /**
   * Whether this invoice holds its period for billing; false once the period no longer exists, or another invoice bills
   * it.
   */
  holds_period: boolean().notNull(),
  /** Notes that users wrote on it. */
  own_notes: wireJson<readonly string[]>().notNull(),
  /** The terms of a one-off invoice; null for others. */
  one_off: wireJson<OneOffTerms>(),
  /** What an on-demand charge bills; null for others. */
  on_demand: wireJson<OnDemandTerms>(),
  content: invoiceContent().notNull(),
  /** What its charges grant to wallets; not shown. */
  grants: wireJson<readonly ChargeGrant[]>().notNull(),
  inputs_hash: text().notNull(),
  /** Everything accepted before this instant is counted; null where nothing is metered. */
  usage_counted_until: timestamp(),
  finalize_at: timestamp(),
  updated_to_final_at: timestamp(),
  to_be_reprocessed_at: timestamp(),
  /** When INVOICE.OVERDUE was emitted for it; null until then. */
  overdue_at: timestamp(),
  /** Why late usage of this FINAL invoice is in no correction; null where nothing is missing. */
  correction_fault: text(),
  /** Why this DRAFT invoice waits beyond its time for one that it is combined with; null where it does not. */
  combine_fault: text(),
  /** Since when it does. */
  combine_fault_at: timestamp(),
})

/** An invoice as stored. */
export type StoredInvoice = typeof invoices.$inferSelect

/** An invoice with its own custom fields, which may change after it is FINAL. */
export type InvoiceRow = StoredInvoice & { readonly custom_fields: readonly CustomFieldView[] }

/** Columns that a view of an invoice does not need. */
export const HIDDEN_COLUMNS = [
  ...(['producer', 'advance_only', 'cutoff_at', 'usage_from', 'tax_amount', 'holds_period', 'one_off'] as const),
  ...(['on_demand', 'grants', 'inputs_hash', 'overdue_at', 'combine_fault_at'] as const),
] as const

/** The columns that a view of an invoice is made of. */
export type ShownInvoice = Omit<InvoiceRow, (typeof HIDDEN_COLUMNS)[number]>

/** An invoice without its printed content, which is nearly all of its size, and without what it grants. */
export type InvoiceOutline = Omit<StoredInvoice, 'content' | 'grants'>

/** The initial values of columns that only users and other documents change. */
export const UNTOUCHED = {
  holds_period: true,
  own_notes: [],
  grants: [],
  one_off: null,
  on_demand: null,
  original_invoice_id: null,
  combined_into_id: null,
  credit: null,
  credited_amount: '0',
  paid_amount: '0',
  settled_amount: '0',
  wallet_amount: '0',
  usage_counted_until: null,
  overdue_at: null,
  correction_fault: null,
  combine_fault: null,
  combine_fault_at: null,
} as const satisfies Partial<StoredInvoice>

/** Whether an invoice still changes with its inputs. */
export const isOpenEnded = ({ status }: Pick<StoredInvoice, 'status'>): boolean =>
  status === 'OPEN' || status === 'DRAFT'

/** The columns that a producer computes. */
export type InvoiceColumns = Pick<
  InvoiceRow,
  | 'period_start'
  | 'period_end'
  | 'advance_only'
  | 'cutoff_at'
  | 'usage_from'
  | 'invoice_date'
  | 'delivery_date'
  | 'due_date'
  | 'billing_currency'
  | 'timezone'
  | 'amount_excluding_tax'
  | 'tax_amount'
  | 'amount_including_tax'
  | 'sales_tax_percentage'
  | 'content'
>
