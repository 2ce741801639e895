// The kept answers of a tax engine, and the questions that wait for one.
import { and, eq, sql } from 'drizzle-orm'
import { type LocalDate, localDateOf } from '../../../../../shared/billing/local-days.ts'
import type { EngineQuestion, KeyedQuestion } from '../../../../../shared/billing/tax/tax-engine.ts'
import type { ReadUow, Uow } from '../../../../../shared/database/database.ts'
import { groupBy } from '../../../../../shared/group-by.ts'
import { type Id, idOf } from '../../../../../shared/ids.ts'
import { formatInstant, type Instant, instantOf } from '../../../../../shared/time.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import { customers } from '../../../parties/customers/table.ts'
import { zoneNamed } from '../../document/invoice-dates.ts'
import { taxAnswers as t } from '../../document/tax/tax-answers-table.ts'
import { type InvoiceRow, isOpenEnded } from '../../table.ts'
import { type EngineReply, retainAnswer, retainedAnswers } from './new-customer.ts'

/** Which of the two sides is the customer of the platform. */
function idsIn({ billing_type, seller, buyer }: EngineQuestion): { customer: Id<'cust'>; entity: Id<'bill'> } {
  const [entity, customer] = billing_type === 'SELF_BILLING' ? [buyer, seller] : [seller, buyer]
  return { customer: idOf('cust', customer.id), entity: idOf('bill', entity.id) }
}

const valuesOf = (uow: Uow, { key, question }: KeyedQuestion, neededOn: LocalDate) => {
  const { customer, entity } = idsIn(question)
  return {
    platform_id: uow.tenant.platformId,
    environment: uow.tenant.environment,
    key,
    customer_id: customer,
    billing_entity_id: entity,
    on_day: question.date,
    question,
    needed_on: neededOn,
    created_at: formatInstant(uow.now),
  }
}

/** Set where there is something new to compute with. */
const TO_COMPUTE = { to_compute: true, compute_at: null }

const CONFLICT = [t.platform_id, t.environment, t.key]

/**
 * Enqueues what invoices lack for the next search, and what they have from before its day once the day has come. Those that were
 * computed while an answer came are computed with it. Two statements for all of them; none where nothing is open.
 */
export async function enqueueTaxQuestions(
  uow: Uow,
  rows: readonly Pick<InvoiceRow, 'content' | 'status' | 'timezone'>[],
): Promise<void> {
  const noted = new Map<string, ReturnType<typeof valuesOf>>()
  /** The day of the oldest answer that a row was computed with. */
  const used = new Map<string, string>()
  for (const { content, timezone, ...row } of rows) {
    const { tax_question: open } = content
    if (!open || !isOpenEnded(row)) continue
    const today = localDateOf(uow.now, zoneNamed(timezone))
    const [asOf, other] = [open.as_of ?? NEVER, used.get(open.key)]
    used.set(open.key, other !== undefined && other < asOf ? other : asOf)
    const before = noted.get(open.key)
    if (before && before.needed_on >= today) continue
    if (open.as_of === null || today >= open.question.date) noted.set(open.key, valuesOf(uow, open, today))
  }
  // In a fixed order, so that two runs never deadlock.
  const values = [...noted.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
  if (values.length === 0) return
  await uow.tx
    .insert(t)
    .values(values)
    .onConflictDoUpdate({
      target: CONFLICT,
      set: { needed_on: sql`excluded.needed_on`, next_attempt_at: null, attempts: 0 },
      setWhere: sql`${t.as_of} < least(${t.on_day}, excluded.needed_on) and ${t.needed_on} < excluded.needed_on`,
    })
  // The rows are held now, so that an answer which is not seen here is stored after the commit, and finds the invoices.
  const { platformId, environment } = uow.tenant
  const keys = values.map(({ key }) => key)
  const asOf = keys.map(key => used.get(key) ?? NEVER)
  await uow.tx.execute(sql`
    update tax_answers t set to_compute = true, compute_at = null
    from unnest(${sql.param(keys)}::text[], ${sql.param(asOf)}::date[]) as o (key, as_of)
    where t.platform_id = ${platformId} and t.environment = ${environment} and t.key = o.key
      and t.as_of > o.as_of and not t.to_compute`)
}

/** Before every day, here and in the database. */
const NEVER = '-infinity'

/**
 * Locks the customer of a question until commit. Of one that is forgotten nothing is kept that a question in flight names, and nothing
 * can be of one that is not there.
 */
async function lockBuyer(uow: Uow, { question }: KeyedQuestion): Promise<'KEPT' | 'FORGOTTEN' | 'NONE'> {
  const [customer] = await uow.tx
    .select({ forgotten_at: customers.forgotten_at })
    .from(customers)
    .where(and(inThisTenant(uow, customers), eq(customers.id, idsIn(question).customer)))
    .for('share')
  if (!customer) return 'NONE'
  return customer.forgotten_at === null ? 'KEPT' : 'FORGOTTEN'
}

/**
 * Saves an answer. The first that was given on its day or later stays, so that every invoice of the day has the same tax; with
 * `instead` it gives way to this one. That about a customer which this call only makes is retained for its next attempt.
 */
export async function saveAnswer(uow: Uow, open: KeyedQuestion, of: EngineReply): Promise<void> {
  const found = await lockBuyer(uow, open)
  if (found === 'NONE') retainAnswer(idsIn(open.question).customer, { open, said: of })
  if (found !== 'KEPT') return
  const kept = { answer: of.answer, as_of: of.asOf, fault: null, attempts: 0, next_attempt_at: null, ...TO_COMPUTE }
  await uow.tx
    .insert(t)
    .values({ ...valuesOf(uow, open, of.asOf), ...kept })
    .onConflictDoUpdate({
      target: CONFLICT,
      set: kept,
      ...(of.instead ? {} : { setWhere: sql`${t.as_of} is null or ${t.as_of} < least(${t.on_day}, excluded.as_of)` }),
    })
}

/** Stores the answers that earlier attempts received about the customer that this attempt has created. */
export async function saveRetainedAnswers(uow: Uow): Promise<void> {
  for (const { open, said } of retainedAnswers()) await saveAnswer(uow, open, said)
}

const RETRY_MS = 60_000
const RETRY_MS_MAX = 1_800_000

/** Saves why there is no answer, and when to ask again: after 1, 2, 4 … up to 30 minutes. */
export async function saveFault(
  uow: Uow,
  open: KeyedQuestion,
  of: { fault: string; asOf: LocalDate; at: Instant },
): Promise<void> {
  if ((await lockBuyer(uow, open)) !== 'KEPT') return
  const [before] = await uow.tx
    .select({ fault: t.fault, attempts: t.attempts })
    .from(t)
    .where(and(inThisTenant(uow, t), eq(t.key, open.key)))
    .for('update')
  const attempts = (before?.attempts ?? 0) + 1
  const wait = Math.min(RETRY_MS * 2 ** (attempts - 1), RETRY_MS_MAX)
  const mark = before?.fault === of.fault ? {} : TO_COMPUTE
  const kept = { fault: of.fault, attempts, next_attempt_at: formatInstant(instantOf(of.at + wait)), ...mark }
  await uow.tx
    .insert(t)
    .values({ ...valuesOf(uow, open, of.asOf), ...kept })
    .onConflictDoUpdate({ target: CONFLICT, set: kept })
}

export type PendingRecomputation = KeyedQuestion & {
  /** Of the stored row: another one when anything of it has changed. */
  readonly version: string
}

/** The part of `where` for the rows `t` with which invoices have yet to be computed, now. */
export const isRecomputationDue = (now: Instant) =>
  sql`t.to_compute and (t.compute_at is null or t.compute_at <= ${formatInstant(now)}::timestamptz)`

/** The questions with an answer, or a new fault, with which invoices have yet to be computed; those that failed before come last. */
export async function pendingRecomputations(
  uow: ReadUow,
  now: Instant,
  limit: number,
): Promise<PendingRecomputation[]> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<PendingRecomputation>(sql`
    select t.key, t.question, t.xmin::text as version from tax_answers t
    where t.platform_id = ${platformId} and t.environment = ${environment} and ${isRecomputationDue(now)}
    order by t.compute_at nulls first, t.key limit ${limit}`)
  return rows
}

/** The invoices that wait for it were computed with this version. */
export const markRecomputed = (uow: Uow, of: PendingRecomputation): Promise<void> =>
  changeVersion(uow, of, { to_compute: false, compute_at: null })

/** An invoice that waits for it could not be computed: again at `at`, unless there is something new before. */
export const postponeRecomputation = (uow: Uow, of: PendingRecomputation, at: Instant): Promise<void> =>
  changeVersion(uow, of, { compute_at: formatInstant(at) })

async function changeVersion(
  uow: Uow,
  { key, version }: PendingRecomputation,
  values: { readonly to_compute?: boolean; readonly compute_at: string | null },
): Promise<void> {
  await uow.tx
    .update(t)
    .set(values)
    .where(and(inThisTenant(uow, t), eq(t.key, key), sql`xmin::text = ${version}`))
}

/** The part of `where` for the rows `t` that have no good answer and may be asked at `now`, whether or not an invoice waits. */
export const mayBeDue = (now: Instant) => sql`(t.answer is null or t.as_of < least(t.on_day, t.needed_on))
  and (t.next_attempt_at is null or t.next_attempt_at <= ${formatInstant(now)}::timestamptz)`

/** Of those, the ones that an OPEN or DRAFT invoice waits for. */
export const isDue = (now: Instant) => sql`${mayBeDue(now)}
  and exists (select from invoices v where v.platform_id = t.platform_id and v.environment = t.environment
    and v.customer_id = t.customer_id and v.status in ('OPEN', 'DRAFT') and v.content -> 'tax_question' ->> 'key' = t.key)`

export type DueQuestion = KeyedQuestion & { readonly needed_on: LocalDate }

/** The questions of the tenant to ask at `now`, longest waiting first. */
export async function dueQuestions(uow: ReadUow, now: Instant, limit: number): Promise<DueQuestion[]> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<DueQuestion>(sql`
    select t.key, t.question, t.needed_on::text from tax_answers t
    where t.platform_id = ${platformId} and t.environment = ${environment} and ${isDue(now)}
    order by t.next_attempt_at nulls first, t.created_at, t.key limit ${limit}`)
  return rows
}

/** What the invoice asks the tax engine; null when it asks nothing. */
export async function questionOfInvoice(
  uow: ReadUow,
  { content: { tax_key: key } }: Pick<InvoiceRow, 'content'>,
): Promise<KeyedQuestion | null> {
  if (key === undefined) return null
  const [row] = await uow.tx
    .select({ key: t.key, question: t.question })
    .from(t)
    .where(and(inThisTenant(uow, t), eq(t.key, key)))
  return row ?? null
}

/** The OPEN and DRAFT invoices that wait for each of these, by its key. */
export async function invoicesWaiting(
  uow: ReadUow,
  open: readonly KeyedQuestion[],
): Promise<ReadonlyMap<string, readonly Id<'invo'>[]>> {
  if (open.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const customerIds = [...new Set(open.map(({ question }) => idsIn(question).customer))]
  const { rows } = await uow.tx.execute<{ id: string; key: string }>(sql`
    select v.id, v.content -> 'tax_question' ->> 'key' as key from invoices v
    where v.platform_id = ${platformId} and v.environment = ${environment}
      and v.customer_id = any(${sql.param(customerIds)}::text[]) and v.status in ('OPEN', 'DRAFT')
      and v.content -> 'tax_question' ->> 'key' = any(${sql.param(open.map(({ key }) => key))}::text[]) order by v.id`)
  return new Map([...groupBy(rows, ({ key }) => key)].map(([key, of]) => [key, of.map(({ id }) => idOf('invo', id))]))
}

/**
 * Drops answers that were last needed before the day `before`, except those that an OPEN or DRAFT invoice uses or waits for. FINAL
 * invoices, and their corrections, have what they used with them. Returns how many, at most `limit`.
 */
export async function dropAnswers(
  uow: Uow,
  { before, limit }: { readonly before: string; readonly limit: number },
): Promise<number> {
  const { platformId, environment } = uow.tenant
  const { rowCount } = await uow.tx.execute(sql`
    delete from tax_answers d where d.platform_id = ${platformId} and d.environment = ${environment} and d.key in (
      select t.key from tax_answers t
      where t.platform_id = ${platformId} and t.environment = ${environment} and t.needed_on < ${before}
        and not exists (select from invoices v where v.platform_id = t.platform_id and v.environment = t.environment
          and v.customer_id = t.customer_id and v.status in ('OPEN', 'DRAFT') and v.content ->> 'tax_key' = t.key)
      order by t.key limit ${limit} for update skip locked)`)
  return rowCount ?? 0
}

/** Deletes what was asked about a customer. What FINAL invoices used stays with them. */
export async function deleteTaxQuestionsOf(uow: Uow, customerId: Id<'cust'>): Promise<void> {
  await uow.tx.delete(t).where(and(inThisTenant(uow, t), eq(t.customer_id, customerId)))
}
