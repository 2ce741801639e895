// The advance charges that an invoice may have to refund, from the lines of FINAL invoices.
import { sql } from 'drizzle-orm'
import type { TaxCategory } from '../../../../shared/billing/tax/tax.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { formatInstant, type Instant, instantOf, interval } from '../../../../shared/time.ts'
import { type StoredTaxes, taxCarried } from '../../invoices/document/tax/charged-tax.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { isRefunded } from '../terms/load/refunded-charge.ts'
import type { InvoiceWindow } from '../terms/windows.ts'
import { type AdvanceCharge, deductedByOf, type Refund, refundsIn, refundTimes } from './refunds.ts'

type LineRow = {
  readonly invoice_id: string
  readonly key: string
  readonly is_minimum: boolean
  readonly schedule: string
  readonly item: string | null
  readonly config: string | null
  readonly product_item: string | null
  readonly start_ms: string
  readonly end_ms: string
  readonly excluding: string
  readonly including: string
  readonly net: string
  readonly tax: string
  readonly tax_category: TaxCategory
  readonly deducted: string
  readonly deducted_by: readonly (readonly [string, string])[] | null
  readonly paused: readonly (readonly [number, number])[] | null
  readonly refunded: boolean
  readonly closed_at_ms: readonly number[] | null
}

/** The refunds on the invoice of `window`; runs no query where it has none. */
export async function loadRefunds(uow: ReadUow, inputs: BillingInputs, window: InvoiceWindow): Promise<Refund[]> {
  const times = refundTimes(inputs)
  const { arrears } = window
  const near = [...times.values()].filter(
    ({ from }) => arrears !== null && arrears.start <= from && from <= arrears.end,
  )
  return refundsIn(window, times, await loadAdvanceCharges(uow, inputs, near))
}

/**
 * What FINAL invoices charged ahead for the time after these schedules stop. An invoice that is not FINAL is computed
 * again up to that time, so it needs no refund. One query, and none where nothing is refunded.
 */
export async function loadAdvanceCharges(
  uow: ReadUow,
  inputs: BillingInputs,
  near: readonly { readonly scheduleId: string; readonly from: Instant }[] = [...refundTimes(inputs).values()],
): Promise<AdvanceCharge[]> {
  if (near.length === 0) return []
  const { platformId, environment } = uow.tenant
  const first = formatInstant(instantOf(Math.min(...near.map(({ from }) => from))))
  const { rows } = await uow.tx.execute<LineRow>(sql`
    select l.invoice_id, l.source ->> 'key' as key, l.kind = 'COMMITMENT' as is_minimum, l.pricing_plan_schedule_id as schedule, l.pricing_item_id as item,
      l.pricing_item_config_id as config, l.product_item_id as product_item,
      (extract(epoch from l.service_start) * 1000)::bigint::text as start_ms,
      (extract(epoch from l.service_end) * 1000)::bigint::text as end_ms,
      (l.amount_excluding_tax + coalesce(c.excluding, 0))::text as excluding,
      (l.amount_including_tax + coalesce(c.including, 0))::text as including,
      l.amount_excluding_tax::text as net, l.tax_amount::text as tax, l.tax_category, coalesce(l.source ->> 'deducted', '0') as deducted, l.source -> 'deducted_by' as deducted_by, l.source -> 'paused' as paused,
      ${isRefunded} as refunded,
      (select array_agg((extract(epoch from o.cutoff_at) * 1000)::float8) from invoices o
        where o.platform_id = l.platform_id and o.environment = l.environment and o.pricing_plan_subscription_id = l.pricing_plan_subscription_id
          and o.holds_period and o.status not in ('OPEN', 'DRAFT') and o.cutoff_at >= ${first}::timestamptz) as closed_at_ms
    from invoice_lines l
    join invoices v on v.platform_id = l.platform_id and v.environment = l.environment and v.id = l.invoice_id
    -- What credit notes give back, also those that are about to, is not given back again. They are below zero.
    left join lateral (
      select sum(x.amount_excluding_tax) as excluding, sum(x.amount_including_tax) as including
      from invoices n
      join invoice_lines x on x.platform_id = n.platform_id and x.environment = n.environment and x.invoice_id = n.id
      where n.platform_id = l.platform_id and n.environment = l.environment and n.original_invoice_id = l.invoice_id
        and n.type = 'CREDIT' and n.status in ('OPEN', 'DRAFT', 'FINAL') and x.line_id = l.line_id
        -- The draft of a correction gives nothing back: it is issued with an invoice that charges the same again, or not at all.
        and (n.status = 'FINAL' or not exists (select from invoice_corrections k
          where k.platform_id = n.platform_id and k.environment = n.environment and k.credit_invoice_id = n.id
            and k.status = 'PREPARED'))
    ) c on true
    where l.platform_id = ${platformId} and l.environment = ${environment}
      and l.pricing_plan_subscription_id = ${inputs.subscription.id} and v.status = 'FINAL'
      and l.source @> '{"in_advance": true}' and not l.source @> '{"one_off": true}' and l.service_end > ${first}::timestamptz
      and l.pricing_plan_schedule_id = any(${sql.param([...new Set(near.map(({ scheduleId }) => scheduleId))])})
    order by l.invoice_id, l.line_order`)
  const taxes = await loadTaxes(uow, [...new Set(rows.map(row => row.invoice_id))])
  return rows
    .map(row => advanceChargeOf(row, taxes.get(row.invoice_id) ?? NO_TAXES))
    .filter(({ excludingTax, includingTax }) => !(excludingTax.eq(ZERO) && includingTax.eq(ZERO)))
}

const NO_TAXES: StoredTaxes = { tax_categories: [] }

/** The taxes of invoices: once for each of them, since their content is large. */
async function loadTaxes(uow: ReadUow, ids: readonly string[]): Promise<ReadonlyMap<string, StoredTaxes>> {
  if (ids.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ readonly id: string; readonly taxes: StoredTaxes }>(sql`
    select id, jsonb_build_object('tax_categories', content -> 'tax_categories', 'tax_summary', content -> 'tax_summary') as taxes
    from invoices
    where platform_id = ${platformId} and environment = ${environment} and id = any(${sql.param([...ids])})`)
  return new Map(rows.map(row => [row.id, row.taxes]))
}

const advanceChargeOf = (row: LineRow, taxes: StoredTaxes): AdvanceCharge => ({
  invoiceId: row.invoice_id,
  key: row.key,
  scheduleId: row.schedule,
  pricingItemId: row.item,
  configId: row.config,
  productItemId: row.product_item,
  isMinimum: row.is_minimum,
  service: interval(instantOf(Number(row.start_ms)), instantOf(Number(row.end_ms))),
  paused: (row.paused ?? []).map(([start, end]) => interval(instantOf(start), instantOf(end))),
  taxCategory: row.tax_category,
  ...taxCarried({ taxCategory: row.tax_category, net: decimal(row.net), tax: decimal(row.tax) }, taxes),
  excludingTax: decimal(row.excluding),
  includingTax: decimal(row.including),
  deducted: decimal(row.deducted),
  ...deductedByOf(row.deducted_by),
  ...(row.refunded ? { refunded: true as const } : {}),
  closedAt: (row.closed_at_ms ?? []).map(instantOf),
})
