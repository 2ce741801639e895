// What an invoice charged ahead, from its lines, as `load-refunds.ts` reads it from the rows of a FINAL invoice. Pure.
import { decimal } from '../../../../shared/decimal.ts'
import { at, instantOf, interval } from '../../../../shared/time.ts'
import { type StoredSummaries, taxCarried } from '../../invoices/document/tax/charged-tax.ts'
import type { LineValues } from '../../invoices/lines/table.ts'
import { type AdvanceCharge, deductedByOf } from './refunds.ts'

/** In the order of the lines; without what is charged once. */
export const advanceChargesOf = (
  invoice: {
    readonly lines: readonly LineValues[]
    readonly columns: { readonly content: { readonly tax_categories: StoredSummaries } }
  },
  invoiceId = 'inv',
): AdvanceCharge[] =>
  invoice.lines
    .filter(({ source }) => source['in_advance'] === true && source['one_off'] !== true)
    .map(line => ({
      invoiceId,
      key: String(line.source['key']),
      scheduleId: line.pricing_plan_schedule_id ?? '',
      pricingItemId: line.pricing_item_id,
      configId: line.pricing_item_config_id,
      productItemId: line.product_item_id,
      isMinimum: line.kind === 'COMMITMENT',
      service: interval(at(line.service_start ?? ''), at(line.service_end ?? '')),
      paused: pausesOf(line.source['paused']),
      taxCategory: line.tax_category ?? 'STANDARD',
      ...taxCarried(
        {
          taxCategory: line.tax_category ?? 'STANDARD',
          net: decimal(line.amount_excluding_tax),
          tax: decimal(line.tax_amount),
        },
        invoice.columns.content.tax_categories,
      ),
      excludingTax: decimal(line.amount_excluding_tax),
      includingTax: decimal(line.amount_including_tax),
      deducted: decimal(String(line.source['deducted'] ?? '0')),
      ...deductedByOf(line.source['deducted_by'] as [string, string][] | undefined),
    }))

const pausesOf = (stored: unknown) =>
  ((stored ?? []) as [number, number][]).map(([start, end]) => interval(instantOf(start), instantOf(end)))
