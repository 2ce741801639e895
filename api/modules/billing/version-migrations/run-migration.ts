// Runs one migration: chooses its subscriptions once, previews each, and once it is started moves each in a transaction of its own.
// What became of one is stored with it, so a run that is killed, or started twice, continues where it was.
import { and, eq, sql } from 'drizzle-orm'
import { inTenant, readTenant, SERVICE, type Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import type { Logger } from '../../../../shared/process/logger.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { inTimeOf, timesOfCustomers } from '../../../test-clock/test-clock.ts'
import { moveToVersion } from '../../subscriptions/succession/move-to-version.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { billedInAdvance } from './billed-in-advance.ts'
import { lockIfStatus, lockMigration, moveMigration, resultOf, withProgress } from './migrations.ts'
import { type PreviewedMove, previewMoves } from './preview-moves.ts'
import { type MigratedSubscription, migratedSubscriptions, type VersionMigration } from './table.ts'

export type MigrationDeps = BillingDeps & { readonly logger: Logger }
export type MigrationRun = {
  readonly tenant: Tenant
  readonly id: string
  /** True on the last try: an error then ends the migration. */
  readonly last: boolean
  /** Aborted when the worker stops. */
  readonly stop?: AbortSignal
}

/**
 * Subscriptions between two signs of life. Those of a preview are priced together, so that they share what is read of usage; they are locked
 * a few at a time. A move takes longer and shares nothing.
 */
const GROUP_MAX = { SCHEDULED: 50, PREVIEWED: 10 } as const

/** Previews a migration that is SCHEDULED, or moves the subscriptions of one that was started. Throws temporary errors. */
export async function runMigration(deps: MigrationDeps, run: MigrationRun): Promise<void> {
  const { tenant, id, last, stop } = run
  const row = await inTenant(deps.database, tenant, SERVICE, uow => begin(uow, id))
  if (!row) return
  const isStopped = () => stop?.aborted === true
  const work = row.status === 'SCHEDULED' ? previewGroup : moveGroup
  try {
    let going = true
    while (going && !isStopped()) {
      const groups = await nextOf(deps, tenant, { id, status: waitingIn(row) })
      for (const group of groups)
        await inTimeOf(deps.database, tenant, group.slice(0, 1), () => work(deps, tenant, { row, group, isStopped }))
      if (isStopped()) return
      going = await inTenant(deps.database, tenant, SERVICE, uow => report(uow, row, groups.length === 0))
    }
  } catch (error) {
    if (last) await inTenant(deps.database, tenant, SERVICE, uow => fail(uow, id, error))
    throw error
  }
}

/** Null when there is nothing to do: it has ended, waits to be started, or is not there. */
async function begin(uow: Uow, id: string): Promise<VersionMigration | null> {
  const row = await lockMigration(uow, id)
  if (row?.status === 'SCHEDULED') await chooseSubscriptions(uow, row)
  return row?.status === 'SCHEDULED' || row?.status === 'IN_PROGRESS' ? row : null
}

/** The ACTIVE subscriptions with a schedule of the version that has not ended; chosen once. */
async function chooseSubscriptions(
  uow: Uow,
  { id, from_pricing_plan_version_id: from }: VersionMigration,
): Promise<void> {
  const { platformId, environment } = uow.tenant
  await uow.tx.execute(sql`
    insert into migrated_subscriptions (platform_id, environment, id, migration_id, pricing_plan_subscription_id, customer_id, currency, status)
    select s.platform_id, s.environment, 'ppms_' || left(replace(gen_random_uuid()::text, '-', ''), 22), ${id}, s.id,
      s.customer_id, s.billing_currency, 'SCHEDULED'
    from pricing_plan_subscriptions s
    where s.platform_id = ${platformId} and s.environment = ${environment} and s.status = 'ACTIVE' and s.type = 'BILLING'
      and s.customer_id is not null
      and exists (select from pricing_plan_schedules c
        where c.platform_id = s.platform_id and c.environment = s.environment and c.pricing_plan_subscription_id = s.id
          and c.status = 'ACTIVE' and c.pricing_plan_version_id = ${from}
          and (c.end_at is null or c.end_at > ${formatInstant(uow.now)}::timestamptz))
      and not exists (select from migrated_subscriptions m
        where m.platform_id = s.platform_id and m.environment = s.environment and m.migration_id = ${id})`)
}

/** The status of the subscriptions that a migration still previews, or still moves. */
const waitingIn = ({ status }: Pick<VersionMigration, 'status'>) => (status === 'SCHEDULED' ? 'SCHEDULED' : 'PREVIEWED')

type Next = { readonly id: string; readonly status: keyof typeof GROUP_MAX }

/** The next subscriptions, in groups that live in the same time; none when all are done. */
const nextOf = (deps: BillingDeps, tenant: Tenant, { id, status }: Next): Promise<string[][]> =>
  readTenant(deps.database, tenant, async uow => {
    const { platformId, environment } = uow.tenant
    const { rows } = await uow.tx.execute<{ subscription: string; customer: string }>(sql`
      select pricing_plan_subscription_id as subscription, customer_id as customer from migrated_subscriptions
      where platform_id = ${platformId} and environment = ${environment} and migration_id = ${id} and status = ${status}
      order by id limit ${GROUP_MAX[status]}`)
    const timeOf = await timesOfCustomers(
      uow,
      rows.map(({ customer }) => customer),
    )
    const groups = groupBy(rows, ({ customer }) => timeOf(customer))
    return [...groups.values()].map(group => group.map(({ subscription }) => subscription))
  })

type Group = { readonly row: VersionMigration; readonly group: readonly string[]; readonly isStopped: () => boolean }
type One = { readonly row: VersionMigration; readonly subscription: string }
type Values = Partial<Omit<MigratedSubscription, 'platform_id' | 'environment' | 'id'>>

/** Previews them together, and each by itself when something keeps the group from it. */
async function previewGroup(deps: MigrationDeps, tenant: Tenant, { row, group, isStopped }: Group): Promise<void> {
  const together = await previewMoves(deps, tenant, group, row).catch((error: unknown) => {
    throwTemporary(error)
    return null
  })
  if (together) return await savePreviews(deps, tenant, row, together)
  for (const subscription of group) {
    if (isStopped()) return
    const found = await previewMoves(deps, tenant, [subscription], row).catch((error: unknown) => {
      const refused = refusalOf(deps, { row, subscription }, error)
      return new Map([[subscription, { refused }]])
    })
    await savePreviews(deps, tenant, row, found)
  }
}

async function savePreviews(
  deps: MigrationDeps,
  tenant: Tenant,
  row: VersionMigration,
  found: ReadonlyMap<string, PreviewedMove>,
): Promise<void> {
  await inTenant(deps.database, tenant, SERVICE, async uow => {
    for (const [subscription, each] of found)
      await saveOne(uow, { row, subscription }, 'found' in each ? each.found : refusedAs(each.refused))
  })
  await deps.failpoint?.('migrate.after-group')
}

async function moveGroup(deps: MigrationDeps, tenant: Tenant, { row, group, isStopped }: Group): Promise<void> {
  for (const subscription of group) {
    if (isStopped()) return
    await moveOne(deps, tenant, { row, subscription })
    await deps.failpoint?.('migrate.after-subscription')
  }
}

/** The subscription and its result are saved together, so that it is moved once. */
async function moveOne(deps: MigrationDeps, tenant: Tenant, { row, subscription }: One): Promise<void> {
  const refused = await inTenant(deps.database, tenant, SERVICE, async uow => {
    const isWaiting = (await lockIfStatus(uow, row.id, 'IN_PROGRESS')) && (await lockOne(uow, { row, subscription }))
    if (!isWaiting) return null
    const moved = await moveToVersion(uow, subscription, row, billedInAdvance)
    const values: Values =
      'skipped' in moved
        ? { status: 'SKIPPED', message: moved.skipped }
        : {
            status: 'MOVED',
            start_at: moved.schedule.start_at,
            pricing_plan_schedule_id: moved.schedule.id,
            message: moved.left,
          }
    await saveOne(uow, { row, subscription }, values)
    return null
  }).catch((error: unknown) => refusalOf(deps, { row, subscription }, error))
  if (refused)
    await inTenant(deps.database, tenant, SERVICE, uow => saveOne(uow, { row, subscription }, refusedAs(refused)))
}

function throwTemporary(error: unknown): void {
  if (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE') throw error
}

/** Why one subscription cannot be moved, which must not keep the others from it. Throws what may pass. */
function refusalOf({ logger }: MigrationDeps, { row, subscription }: One, error: unknown): AppError {
  throwTemporary(error)
  if (error instanceof AppError) return error
  logger.error(
    { err: error, migrationId: row.id, subscriptionId: subscription },
    'a subscription could not be migrated',
  )
  return new AppError('INTERNAL_ERROR', 'Something went wrong on our side; migrate it by itself.')
}

const refusedAs = ({ code, message, details }: AppError): Values => ({
  status: 'ERROR',
  code,
  field: details.field ?? null,
  message,
})

const whereOne = (uow: Uow, { row, subscription }: One) =>
  and(
    inThisTenant(uow, migratedSubscriptions),
    eq(migratedSubscriptions.migration_id, row.id),
    eq(
      migratedSubscriptions.pricing_plan_subscription_id,
      subscription as MigratedSubscription['pricing_plan_subscription_id'],
    ),
  )

async function lockOne(uow: Uow, of: One): Promise<boolean> {
  const [found] = await uow.tx
    .select({ status: migratedSubscriptions.status })
    .from(migratedSubscriptions)
    .where(whereOne(uow, of))
    .for('update')
  return found?.status === 'PREVIEWED'
}

/** Changes nothing when another run has saved its result since: a subscription that is moved stays MOVED. */
const saveOne = async (uow: Uow, of: One, values: Values): Promise<void> =>
  void (await uow.tx
    .update(migratedSubscriptions)
    .set(values)
    .where(and(whereOne(uow, of), eq(migratedSubscriptions.status, waitingIn(of.row)))))

/** Says that it still runs, and ends it when nothing is left. False when it has ended, or was cancelled. */
async function report(uow: Uow, { id, status }: VersionMigration, isDone: boolean): Promise<boolean> {
  const row = await lockMigration(uow, id)
  if (row?.status !== status) return false
  const result = await resultOf(uow, id)
  if (isDone) {
    const ended =
      status === 'SCHEDULED'
        ? { status: 'PREVIEWED' as const }
        : { status: 'DONE' as const, finished_at: formatInstant(uow.now) }
    await moveMigration(uow, row, { ...ended, percentage: 100, result })
    return false
  }
  const { platformId, environment } = uow.tenant
  // A sign of life, for the search for migrations that no worker runs. It emits no event; changes of status do.
  await uow.tx.execute(sql`
    update pricing_plan_version_migrations set updated_at = ${formatInstant(uow.now)}
    where platform_id = ${platformId} and environment = ${environment} and id = ${id}`)
  return true
}

async function fail(uow: Uow, id: string, error: unknown): Promise<void> {
  const row = await lockMigration(uow, id)
  if (!row || row.finished_at !== null) return
  const message =
    error instanceof AppError ? error.message : 'Something went wrong on our side; create the migration again.'
  const { percentage, result } = await withProgress(uow, row)
  await moveMigration(uow, row, { status: 'ERROR', message, percentage, result, finished_at: formatInstant(uow.now) })
}
