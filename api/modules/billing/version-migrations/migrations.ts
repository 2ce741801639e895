// Migrations to another plan version as rows: created, started, cancelled, and shown with their progress.
import { and, eq, sql } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { idOf, newId } from '../../../../shared/ids.ts'
import { amount, amountView } from '../../../../shared/money.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { emit } from '../../../outbox.ts'
import { findOne, getOne, notFound } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import type { MigrationRequest, MigrationResult } from './schema.ts'
import { versionMigrations as table, type VersionMigration } from './table.ts'

const OBJECT_TYPE = 'PRICING_PLAN_VERSION_MIGRATION'

/**
 * Saves a migration of all subscriptions that are on a version now; a job then previews them. Emits
 * PRICING_PLAN_VERSION_MIGRATION.CREATED. Throws INVALID_FIELD, INVALID_OPERATION or RESOURCE_NOT_FOUND.
 */
export async function createMigration(uow: Uow, fromId: string, request: MigrationRequest): Promise<VersionMigration> {
  const from = await getOne(uow, pricingPlanVersionResource, fromId)
  const { type = 'NEXT_BILLING_PERIOD', start_at = null, coupon_discount_behaviour = 'NONE' } = request
  if (from.rate_card !== null) {
    const message = 'A rate card moves to its next version by itself; give that version a start_at.'
    throw new AppError('INVALID_OPERATION', message, { resourceId: from.id, resourceType: 'PRICING_PLAN_VERSION' })
  }
  await requireTarget(uow, request.pricing_plan_version_id, from.id)
  if (start_at !== null && type === 'NEXT_BILLING_PERIOD') {
    const message = 'NEXT_BILLING_PERIOD moves each subscription at the end of its billing period; leave start_at out.'
    throw new AppError('INVALID_FIELD', message, { field: 'start_at' })
  }
  const now = formatInstant(uow.now)
  if (start_at !== null && start_at < now) {
    const message = 'start_at must not lie in the past: that time is billed by the version it had.'
    throw new AppError('INVALID_FIELD', message, { field: 'start_at' })
  }
  const { platformId: platform_id, environment } = uow.tenant
  const row: VersionMigration = {
    platform_id,
    environment,
    id: newId('ppvm'),
    created_at: now,
    updated_at: now,
    from_pricing_plan_version_id: from.id,
    pricing_plan_version_id: idOf('ppve', request.pricing_plan_version_id),
    type,
    start_at,
    coupon_discount_behaviour,
    status: 'SCHEDULED',
    percentage: 0,
    message: null,
    result: null,
    finished_at: null,
  }
  await uow.tx.insert(table).values(row)
  await emit(uow, {
    type: 'PRICING_PLAN_VERSION_MIGRATION.CREATED',
    objectId: row.id,
    data: migrationView(row),
    previous: null,
  })
  return row
}

async function requireTarget(uow: Uow, id: string, fromId: string): Promise<void> {
  const field = 'pricing_plan_version_id'
  const target = await findOne(uow, pricingPlanVersionResource, id)
  if (!target) throw notFound(pricingPlanVersionResource, id, field)
  if (target.id === fromId)
    throw new AppError('INVALID_FIELD', 'The subscriptions are on this version already; name another.', { field })
  if (target.status === 'ACTIVE') return
  const message = `Version ${target.version} of the plan is ${target.status}; only an ACTIVE version takes subscriptions.`
  throw new AppError('INVALID_FIELD', message, { field })
}

/** Throws RESOURCE_NOT_FOUND. */
export async function getMigration(uow: ReadUow, id: string): Promise<VersionMigration> {
  const [row] = await uow.tx.select().from(table).where(ofId(uow, id))
  if (row) return row
  throw new AppError('RESOURCE_NOT_FOUND', `There is no ${OBJECT_TYPE} ${JSON.stringify(id)}.`, {
    resourceType: OBJECT_TYPE,
  })
}

const ofId = (uow: ReadUow, id: string) => and(inThisTenant(uow, table), eq(table.id, idOf('ppvm', id)))

/** Locked until commit; null when there is none. */
export async function lockMigration(uow: Uow, id: string): Promise<VersionMigration | null> {
  const [row] = await uow.tx.select().from(table).where(ofId(uow, id)).for('update')
  return row ?? null
}

/** Whether it has this status. Locks it until commit, so that it keeps the status. */
export async function lockIfStatus(uow: Uow, id: string, status: VersionMigration['status']): Promise<boolean> {
  const [row] = await uow.tx.select({ status: table.status }).from(table).where(ofId(uow, id)).for('share')
  return row?.status === status
}

/** Saves a change of status. Emits PRICING_PLAN_VERSION_MIGRATION.UPDATED. */
export async function moveMigration(
  uow: Uow,
  row: VersionMigration,
  values: Partial<Pick<VersionMigration, 'status' | 'percentage' | 'message' | 'result' | 'finished_at'>>,
): Promise<VersionMigration> {
  const changed = { ...row, ...values, updated_at: formatInstant(uow.now) }
  await uow.tx
    .update(table)
    .set({ ...values, updated_at: changed.updated_at })
    .where(ofId(uow, row.id))
  const [data, previous] = [migrationView(changed), migrationView(row)]
  await emit(uow, { type: 'PRICING_PLAN_VERSION_MIGRATION.UPDATED', objectId: row.id, data, previous })
  return changed
}

/**
 * Starts a migration that is PREVIEWED: a job then moves its subscriptions. A second start changes nothing. Throws INVALID_OPERATION,
 * INVALID_FIELD or RESOURCE_NOT_FOUND.
 */
export async function startMigration(uow: Uow, id: string): Promise<VersionMigration> {
  const row = (await lockMigration(uow, id)) ?? (await getMigration(uow, id))
  if (row.status === 'IN_PROGRESS' || row.status === 'DONE') return row
  if (row.status !== 'PREVIEWED') {
    const message = `The migration is ${row.status}; only one that is PREVIEWED can be started.`
    throw new AppError('INVALID_OPERATION', message, { resourceId: row.id, resourceType: OBJECT_TYPE })
  }
  await requireTarget(uow, row.pricing_plan_version_id, row.from_pricing_plan_version_id)
  return await moveMigration(uow, row, { status: 'IN_PROGRESS', percentage: 0 })
}

/** Stops a migration: what is moved stays moved. One that has ended stays as it is. Throws RESOURCE_NOT_FOUND. */
export async function cancelMigration(uow: Uow, id: string): Promise<VersionMigration> {
  const row = (await lockMigration(uow, id)) ?? (await getMigration(uow, id))
  if (row.finished_at !== null) return row
  const { percentage, result } = await withProgress(uow, row)
  return await moveMigration(uow, row, { status: 'CANCELLED', percentage, result, finished_at: formatInstant(uow.now) })
}

type TotalRow = Readonly<Record<'migration' | 'currency' | 'amount' | 'migrated_amount' | 'difference', string>> &
  Readonly<Record<'all' | 'scheduled' | 'previewed' | 'moved' | 'skipped' | 'failed' | 'shown', number>>

/** The subscriptions of each migration by what has become of them so far, in one row for each currency. */
async function countsOf(uow: ReadUow, ids: readonly string[]): Promise<TotalRow[]> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<TotalRow>(sql`
    select migration_id as migration, currency, count(*)::int as all, coalesce(sum(amount), 0)::text as amount,
      coalesce(sum(migrated_amount), 0)::text as migrated_amount, coalesce(sum(difference), 0)::text as difference,
      count(*) filter (where status = 'SCHEDULED')::int as scheduled,
      count(*) filter (where status = 'PREVIEWED')::int as previewed, count(*) filter (where status = 'MOVED')::int as moved,
      count(*) filter (where status = 'SKIPPED')::int as skipped, count(*) filter (where status = 'ERROR')::int as failed,
      count(amount)::int as shown
    from migrated_subscriptions
    where platform_id = ${platformId} and environment = ${environment} and migration_id = any(${sql.param([...ids])})
    group by migration_id, currency order by migration_id, currency`)
  return rows
}

const count = (rows: readonly TotalRow[], name: 'all' | 'scheduled' | 'previewed' | 'moved' | 'skipped' | 'failed') =>
  rows.reduce((total, row) => total + row[name], 0)

/** What has become of the subscriptions so far. */
export const resultOf = async (uow: ReadUow, id: string): Promise<MigrationResult> =>
  resultIn(await countsOf(uow, [id]))

const resultIn = (rows: readonly TotalRow[]): MigrationResult => ({
  number_of_subscriptions: count(rows, 'all'),
  number_of_previewed: count(rows, 'previewed'),
  number_of_moved: count(rows, 'moved'),
  number_of_skipped: count(rows, 'skipped'),
  number_of_failed: count(rows, 'failed'),
  totals: rows
    .filter(({ shown }) => shown > 0)
    .map(row => ({
      currency: row.currency,
      amount: moneyView(row.amount, row.currency),
      migrated_amount: moneyView(row.migrated_amount, row.currency),
      difference: moneyView(row.difference, row.currency),
    })),
})

const isRunning = ({ status }: VersionMigration): boolean => status === 'SCHEDULED' || status === 'IN_PROGRESS'

/**
 * The migrations with how far those that run are, from the results of their subscriptions: each is committed with its subscription, so
 * what is shown is never behind.
 */
export async function allWithProgress(uow: ReadUow, rows: readonly VersionMigration[]): Promise<VersionMigration[]> {
  const running = rows.filter(isRunning).map(({ id }) => id)
  if (running.length === 0) return [...rows]
  const counts = groupBy(await countsOf(uow, running), ({ migration }) => migration)
  return rows.map(row => {
    const own = counts.get(row.id)
    if (!own || !isRunning(row)) return row
    const all = count(own, 'all')
    const left = count(own, row.status === 'SCHEDULED' ? 'scheduled' : 'previewed')
    return { ...row, percentage: Math.floor((100 * (all - left)) / all), result: resultIn(own) }
  })
}

/** One migration with how far it is. */
export const withProgress = async (uow: ReadUow, row: VersionMigration): Promise<VersionMigration> =>
  (await allWithProgress(uow, [row]))[0] ?? row

/** An amount as the API shows it. */
export const moneyView = (text: string, currency: string) => amountView(amount(plain(decimal(text)), currency))

/** A migration as the API shows it. */
export const migrationView = ({ platform_id: _platform, environment: _environment, ...row }: VersionMigration) => ({
  object_type: OBJECT_TYPE,
  ...row,
})
