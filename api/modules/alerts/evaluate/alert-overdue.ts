// Rules of type INVOICE: the FINAL invoices that are not paid and late enough, each once a rule. What has its alert is not looked
// at again, so an evaluation costs what is new.
import { type SQL, sql } from 'drizzle-orm'
import { daysOverdue, isOverdueBy } from '../../../../shared/billing/invoice-dates/overdue.ts'
import type { PeriodLength } from '../../../../shared/billing/periods.ts'
import { type Database, inTenant, readTenant, SERVICE, type Uow } from '../../../../shared/database/database.ts'
import { idOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { type Instant, instantOf } from '../../../../shared/time.ts'
import { timeOfCustomerIn, timesOfCustomers } from '../../../test-clock/test-clock.ts'
import { dueAndToday } from '../../invoices/overdue/payment-overdue.ts'
import { unpaidInvoices } from '../../invoices/overdue/unpaid-invoices.ts'
import { saveAlert } from '../save-alert.ts'
import type { AlertRule } from '../table.ts'
import { activeRules, lockUnchangedRules } from './active-rules.ts'

/** Invoices in one transaction, and transactions for one rule in an evaluation; what is left is found by the next. */
const INVOICES_MAX = 200
const ROUNDS_MAX = 10

/** Makes the alerts that are due and have not been made; gives how many. Safe to run twice, and beside another. */
export async function alertOverdue(database: Database, tenant: Tenant): Promise<number> {
  let made = 0
  for (const rule of await readTenant(database, tenant, uow => activeRules(uow, 'INVOICE'))) {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const found = await inTenant(database, tenant, SERVICE, uow => alertRound(uow, rule))
      made += found
      if (found < INVOICES_MAX) break
    }
  }
  return made
}

async function alertRound(uow: Uow, rule: AlertRule): Promise<number> {
  if (rule.invoice === null || !(await lockUnchangedRules(uow, [rule])).has(rule.id)) return 0
  const { comparator, threshold } = rule.invoice.overdue
  const orAsMuch = comparator === 'GREATER_THAN_OR_EQUALS'
  let made = 0
  const since = lateSince(uow.now, threshold)
  const unpaid = await unpaidInvoices(uow, {
    ...(uow.tenant.environment === 'LIVE'
      ? { dueBefore: since, where: notAlerted(rule) }
      : {
          dueBefore: instantOf(uow.now + CLOCKS_AHEAD_MS),
          where: sql`${lateByClock(uow, since)} and ${notAlerted(rule)}`,
        }),
    limit: INVOICES_MAX,
    hold: 'share',
  })
  const timeOf = await timesOfCustomers(
    uow,
    unpaid.map(({ customer_id }) => customer_id),
  )
  for (const invoice of unpaid) {
    const { due, today } = dueAndToday(invoice, timeOf(invoice.customer_id))
    if (!isOverdueBy(threshold, { due, today, orAsMuch })) continue
    const overdue_period = { type: 'DAY', value: daysOverdue(due, today) } as const
    const { created } = await saveAlert(uow, {
      alert_rule_id: rule.id,
      customer_id: idOf('cust', invoice.customer_id),
      type: 'INVOICE',
      data_trigger_reference: invoice.id,
      alert_data: { invoice: { id: invoice.id, overdue: { due_date: invoice.due_date, overdue_period } } },
    })
    if (created) made += 1
  }
  return made
}

const DAY_MS = 86_400_000
/** Test clocks stand at most so far ahead. */
const CLOCKS_AHEAD_MS = 100 * 366 * DAY_MS

/** Whether an invoice of the TEST environment may be late enough in the time of its customer. */
const lateByClock = (uow: Uow, since: Instant): SQL =>
  sql`v.due_date < ${timeOfCustomerIn(uow, 'v')} - make_interval(secs => ${(uow.now - since) / 1_000}::float8)`

/** No period of the type has fewer days. */
const DAYS_MIN: Readonly<Record<PeriodLength['type'], number>> = { DAY: 1, WEEK: 7, MONTH: 28, YEAR: 365 }

/** What may be late enough, latest first, with a day to spare on either side for zones and clocks: the calendar decides. */
function lateSince(now: Instant, { type, value }: PeriodLength): Instant {
  return instantOf(Math.max(0, now - (value * DAYS_MIN[type] - 2) * DAY_MS))
}

/** What the rule looks at and has not raised an alert for. */
function notAlerted(rule: AlertRule): SQL {
  const named = rule.customer_ids.length === 0 ? sql`true` : sql`v.customer_id in ${rule.customer_ids}`
  return sql`${named} and not exists (select from alerts a
    where a.platform_id = v.platform_id and a.environment = v.environment
      and a.alert_rule_id = ${rule.id} and a.data_trigger_reference = v.id)`
}
