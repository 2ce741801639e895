// Rules of type INVOICE: the FINAL invoices that are not paid and late enough, each once a rule. What has its alert is not looked
// at again, so a look costs what is new.
import { sql } from 'drizzle-orm'
import { daysOverdue, isOverdueBy } from '../../../../shared/billing/overdue.ts'
import { localDateOf, type PeriodLength, type Zone, zoneOf } from '../../../../shared/billing/periods.ts'
import { type Actor, type Database, inTenant, readTenant, type Uow } from '../../../../shared/database/database.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at, formatInstant, type Instant, instantOf } from '../../../../shared/time.ts'
import { saveAlert } from '../save-alert.ts'
import type { AlertRule } from '../table.ts'
import { activeRules, holdRules } from './active-rules.ts'

const ACTOR: Actor = { id: null, requestId: null }
/** Invoices in one transaction, and transactions for one rule in a look; what is left is found by the next. */
const INVOICES_MAX = 200
const ROUNDS_MAX = 10

/** Makes the alerts that are due and have not been made; gives how many. Safe to run twice, and beside another. */
export async function alertOverdue(database: Database, tenant: Tenant): Promise<number> {
  let made = 0
  for (const rule of await readTenant(database, tenant, uow => activeRules(uow, 'INVOICE'))) {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const found = await inTenant(database, tenant, ACTOR, uow => alertRound(uow, rule))
      made += found
      if (found < INVOICES_MAX) break
    }
  }
  return made
}

type Unpaid = {
  readonly id: string
  readonly customer_id: string
  readonly due_date: string
  readonly timezone: string
}

async function alertRound(uow: Uow, rule: AlertRule): Promise<number> {
  if (rule.invoice === null || !(await holdRules(uow, [rule])).has(rule.id)) return 0
  const { comparator, threshold } = rule.invoice.overdue
  const orAsMuch = comparator === 'GREATER_THAN_OR_EQUALS'
  let made = 0
  for (const invoice of await unpaidInvoices(uow, rule, threshold)) {
    const zone = zoneOfInvoice(invoice)
    const [due, today] = [localDateOf(at(invoice.due_date), zone), localDateOf(uow.now, zone)]
    if (!isOverdueBy(threshold, { due, today, orAsMuch })) continue
    const overdue_period = { type: 'DAY', value: daysOverdue(due, today) } as const
    const { created } = await saveAlert(uow, {
      alert_rule_id: rule.id,
      customer_id: invoice.customer_id,
      type: 'INVOICE',
      data_trigger_reference: invoice.id,
      alert_data: { invoice: { id: invoice.id, overdue: { due_date: invoice.due_date, overdue_period } } },
    })
    if (created) made += 1
  }
  return made
}

/** The day an invoice carries is one of the zone it was made in. */
function zoneOfInvoice({ id, timezone }: Unpaid): Zone {
  const zone = zoneOf(timezone)
  if (zone === null) throw new Error(`the invoice ${id} has no zone`)
  return zone
}

const DAY_MS = 86_400_000
/** No period of the type has fewer days. */
const DAYS_MIN: Readonly<Record<PeriodLength['type'], number>> = { DAY: 1, WEEK: 7, MONTH: 28, YEAR: 365 }

/** What may be late enough, latest first, with a day to spare on either side for zones and clocks: the calendar decides. */
function lateSince(now: Instant, { type, value }: PeriodLength): Instant {
  return instantOf(Math.max(0, now - (value * DAYS_MIN[type] - 2) * DAY_MS))
}

/** Held as they are until this commits, so that one that is paid in this very moment is paid before or after its alert. */
async function unpaidInvoices(uow: Uow, rule: AlertRule, threshold: PeriodLength): Promise<Unpaid[]> {
  const { platformId, environment } = uow.tenant
  const since = formatInstant(lateSince(uow.now, threshold))
  const named = rule.customer_ids.length === 0 ? sql`` : sql`and v.customer_id in ${rule.customer_ids}`
  const { rows } = await uow.tx.execute<Omit<Unpaid, 'due_date'> & { due_ms: string }>(sql`
    select v.id, v.customer_id, v.timezone, (extract(epoch from v.due_date) * 1000)::bigint::text as due_ms
    from invoices v
    where v.platform_id = ${platformId} and v.environment = ${environment}
      and v.status = 'FINAL' and v.payment_status in ('UNPAID', 'PARTIALLY_PAID') and v.amount_including_tax > v.credited_amount
      and v.due_date < ${since}::timestamptz ${named}
      and not exists (select from alerts a
        where a.platform_id = v.platform_id and a.environment = v.environment
          and a.alert_rule_id = ${rule.id} and a.data_trigger_reference = v.id)
    order by v.due_date, v.id limit ${INVOICES_MAX}
    for share of v`)
  return rows.map(({ due_ms, ...row }) => ({ ...row, due_date: formatInstant(instantOf(Number(due_ms))) }))
}
