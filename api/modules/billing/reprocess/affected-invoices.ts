// Which invoices a reprocess computes again, and how they are marked.
import { type SQL, sql } from 'drizzle-orm'
import { GENERATIONS_MAX } from '../../../../shared/attribution/replicate.ts'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import type { Reprocess } from './table.ts'

/** The members of a reprocess that decide which invoices it affects. */
export type Reach = Pick<Reprocess, 'type' | 'invoice_id' | 'customer_id' | 'start_at' | 'end_at'>

/**
 * The OPEN and DRAFT invoices of a reprocess. A reprocess of a customer reaches all its subscriptions, and those of the
 * parents that may be billed for its usage, by any terms that were ever in force: the computation of an invoice decides
 * which terms apply. A FINAL invoice is never among them.
 */
export function affectedBy(uow: ReadUow, reach: Reach): SQL {
  const { platformId, environment } = uow.tenant
  const { invoice_id, customer_id, start_at, end_at } = reach
  const customers = () =>
    ancestorsOf({ platformId: sql`${platformId}`, environment: sql`${environment}`, customerId: sql`${customer_id}` })
  return sql`v.platform_id = ${platformId} and v.environment = ${environment} and v.status in ('OPEN', 'DRAFT')
    ${invoice_id === null ? sql`` : sql`and v.id = ${invoice_id}`}
    ${customer_id === null ? sql`` : sql`and v.id = any(array(${billedTo(uow, customers())}))`}
    and ${collectsWithin(sql`${start_at}::timestamptz`, sql`${end_at}::timestamptz`)}`
}

/** The same condition for one invoice `v` and the reprocesses `r`. */
export const isReached: SQL = sql`(r.invoice_id is null or r.invoice_id = v.id)
  and (r.customer_id is null or r.customer_id = v.customer_id or ${usedBy(
    ancestorsOf({
      platformId: sql`v.platform_id`,
      environment: sql`v.environment`,
      customerId: sql`r.customer_id`,
    }),
  )})
  and ${collectsWithin(sql`r.start_at`, sql`r.end_at`)}`

/**
 * The ids of the invoices that `usedBy` is true of. Found from the customers, so that it costs the same however many invoices of others
 * are not FINAL. Lists are arrays: as subqueries they are joined in any order, and what a table held when it was last counted decides
 * whether each invoice of the tenant is looked at.
 */
function billedTo(uow: ReadUow, customers: SQL): SQL {
  const here = (table: 'i' | 's') => {
    const of = sql.raw(table)
    return sql`${of}.platform_id = ${uow.tenant.platformId} and ${of}.environment = ${uow.tenant.environment}`
  }
  return sql`select i.id from invoices i where ${here('i')} and i.customer_id = any(array(${customers}))
    union all select i.id from pricing_plan_subscriptions s join invoices i on ${here('i')} and i.pricing_plan_subscription_id = s.id
      where ${here('s')} and s.customer_id = any(array(${customers})) and s.forward_customer_id is not null`
}

/** Whether the invoice `v` bills usage of these customers. Another customer may get the invoice. */
function usedBy(customers: SQL): SQL {
  return sql`(v.customer_id in (${customers}) or exists (select from pricing_plan_subscriptions s
    where s.platform_id = v.platform_id and s.environment = v.environment and s.id = v.pricing_plan_subscription_id
      and s.forward_customer_id is not null and s.customer_id in (${customers})))`
}

/**
 * Whether the invoice `v` collects usage of a range, either end of which may be null. It does when its period, or the
 * earlier time that its prices rate, overlaps the range. It also does when it is the invoice that takes late usage and
 * the range contains closed time.
 */
function collectsWithin(start: SQL, end: SQL): SQL {
  return sql`(
    ((${start} is null or v.period_end > ${start}) and (${end} is null or least(v.usage_from, v.period_start) < ${end}))
    or (not exists (select from invoices o
        where o.platform_id = v.platform_id and o.environment = v.environment
          and o.pricing_plan_subscription_id = v.pricing_plan_subscription_id
          and o.status in ('OPEN', 'DRAFT') and o.holds_period and o.cutoff_at < v.cutoff_at)
      and exists (select from closed_usage c
        where c.platform_id = v.platform_id and c.environment = v.environment
          and c.pricing_plan_subscription_id = v.pricing_plan_subscription_id
          and (${start} is null or c.service_until > ${start}) and (${end} is null or c.service_from < ${end}))))`
}

/** The customer and all its parents, up to the one that is billed for the usage. */
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

/** Marks the invoices as due. The mark is a plan, not a change of the invoice, so it emits no event. */
export async function markInvoices(uow: Uow, reprocess: Reach & Pick<Reprocess, 'scheduled_at'>): Promise<number> {
  const { rowCount } = await uow.tx.execute(sql`
    update invoices v set to_be_reprocessed_at = ${reprocess.scheduled_at}::timestamptz
    where (v.to_be_reprocessed_at is null or v.to_be_reprocessed_at > ${reprocess.scheduled_at}::timestamptz)
      and ${affectedBy(uow, reprocess)}`)
  return rowCount ?? 0
}
