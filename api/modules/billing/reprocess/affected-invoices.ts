// Which invoices a reprocess computes again, and the marks on them.
import { type SQL, sql } from 'drizzle-orm'
import { GENERATIONS_MAX } from '../../../../shared/attribution/replicate.ts'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import type { Reprocess } from './table.ts'

/** What is asked of a reprocess here. */
export type Reach = Pick<Reprocess, 'type' | 'invoice_id' | 'customer_id' | 'start_at' | 'end_at'>

/**
 * The OPEN and DRAFT invoices of a reprocess. One of a customer reaches those of all their subscriptions, and of the parents
 * their usage goes on to, by whatever the terms have ever been: which of them hold is decided when an invoice is computed.
 * A FINAL invoice is never among them.
 */
export function affectedBy(uow: ReadUow, reach: Reach): SQL {
  const { platformId, environment } = uow.tenant
  const { invoice_id, customer_id, start_at, end_at } = reach
  const customers = () =>
    ancestorsOf({ platformId: sql`${platformId}`, environment: sql`${environment}`, customerId: sql`${customer_id}` })
  return sql`v.platform_id = ${platformId} and v.environment = ${environment} and v.status in ('OPEN', 'DRAFT')
    ${invoice_id === null ? sql`` : sql`and v.id = ${invoice_id}`}
    ${customer_id === null ? sql`` : sql`and v.customer_id in (${customers()})`}
    and ${collectsWithin(sql`${start_at}::timestamptz`, sql`${end_at}::timestamptz`)}`
}

/** The same of one invoice `v` and the reprocesses `r`. */
export const isReached: SQL = sql`(r.invoice_id is null or r.invoice_id = v.id)
  and (r.customer_id is null or r.customer_id = v.customer_id or v.customer_id in (${ancestorsOf({
    platformId: sql`v.platform_id`,
    environment: sql`v.environment`,
    customerId: sql`r.customer_id`,
  })}))
  and ${collectsWithin(sql`r.start_at`, sql`r.end_at`)}`

/**
 * Whether the invoice `v` collects usage of a range, either end of which may be null: when its period, or what its prices
 * reach back to, has a part of it; or when it is the one that takes late usage, and the range has time that is closed.
 */
function collectsWithin(start: SQL, end: SQL): SQL {
  return sql`(
    ((${start} is null or v.period_end > ${start}) and (${end} is null or least(v.usage_from, v.period_start) < ${end}))
    or (not exists (select from invoices o
        where o.platform_id = v.platform_id and o.environment = v.environment
          and o.pricing_plan_subscription_id = v.pricing_plan_subscription_id
          and o.status in ('OPEN', 'DRAFT') and o.cutoff_at < v.cutoff_at)
      and exists (select from closed_usage c
        where c.platform_id = v.platform_id and c.environment = v.environment
          and c.pricing_plan_subscription_id = v.pricing_plan_subscription_id
          and (${start} is null or c.service_until > ${start}) and (${end} is null or c.service_from < ${end}))))`
}

/** The customer and every parent of theirs, up to where usage goes on. */
function ancestorsOf(of: { readonly platformId: SQL; readonly environment: SQL; readonly customerId: SQL }): SQL {
  return sql`
    with recursive known (id, terms, depth) as (
      select k.id, k.attribution_terms, 0 from customers k
      where k.platform_id = ${of.platformId} and k.environment = ${of.environment} and k.id = ${of.customerId}
      union
      select p.id, p.attribution_terms, known.depth + 1 from known
      join customers p on p.platform_id = ${of.platformId} and p.environment = ${of.environment} and p.id in (
        select jsonb_array_elements_text(term -> 'parent_customer_ids') from jsonb_array_elements(known.terms) as term)
      where known.depth < ${GENERATIONS_MAX}
    )
    select id from known`
}

/** Marks the invoices as due. It is what is planned for them and no change of theirs, so no notice is given of it. */
export async function markInvoices(uow: Uow, reprocess: Reach & Pick<Reprocess, 'scheduled_at'>): Promise<number> {
  const { rowCount } = await uow.tx.execute(sql`
    update invoices v set to_be_reprocessed_at =
      least(coalesce(v.to_be_reprocessed_at, 'infinity'), ${reprocess.scheduled_at}::timestamptz)
    where ${affectedBy(uow, reprocess)}`)
  return rowCount ?? 0
}
