// Jobs of which there is one a tenant: it takes what waits there, one after the other.
import type { SQL } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../shared/database/database.ts'
import type { Environment, Tenant } from '../../shared/tenant.ts'
import type { Instant } from '../../shared/time.ts'
import { defineJob, type Job, type JobRun, queueJobs, type Rights } from './define-job.ts'

/** A tenant, as the payload of its job. */
export type TenantPayload = { readonly platform_id: string; readonly environment: Environment }
/** A tenant for which something waits, until `ready_at` if there is one. */
export type WaitingTenant = TenantPayload & { readonly ready_at?: string | null }

export const tenantOf = ({ platform_id: platformId, environment }: TenantPayload): Tenant => ({
  platformId,
  environment,
})
export const payloadOf = ({ platformId: platform_id, environment }: Tenant): TenantPayload => ({
  platform_id,
  environment,
})

/** Queues `job` for each, for when it is ready. One job a tenant, however often it is queued. */
export const queueTenants = (
  tx: SystemTransaction,
  job: Pick<Job<never, TenantPayload>, 'name' | 'priority' | 'attemptsMax'>,
  waiting: readonly WaitingTenant[],
): Promise<void> =>
  queueJobs(
    tx,
    job,
    waiting.map(({ platform_id, environment, ready_at }) => ({
      key: `${platform_id}:${environment}`,
      payload: { platform_id, environment },
      runAt: ready_at ?? null,
    })),
  )

type Search = {
  readonly name: string
  /** Five fields of cron, in UTC. */
  readonly every: string
  readonly rights: Rights
  /** A statement that gives `platform_id` and `environment` of each tenant for which something is due at this time. */
  readonly due: (now: Instant) => SQL
}
type OfTenant<D> = {
  readonly name: string
  readonly priority?: number
  readonly run: (deps: D, tenant: Tenant, run: JobRun) => Promise<unknown>
}

/**
 * Two jobs: a search in the worker's own role, and one for each tenant that it finds. The next search repeats what failed or died
 * with its worker.
 */
export function searchedJobs<D extends { readonly system: Database }>(
  { due, ...search }: Search,
  { run: work, ...ofTenant }: OfTenant<D>,
): readonly [search: Job<D>, ofTenant: Job<D, TenantPayload>] {
  const each = defineJob<D, TenantPayload>({
    ...ofTenant,
    class: 'short',
    rights: {},
    run: async (deps, payload, run) => {
      await work(deps, tenantOf(payload), run)
    },
  })
  const find = defineJob<D>({
    ...search,
    class: 'short',
    run: ({ system }) =>
      asSystem(system, search.name, async tx => {
        const { rows } = await tx.execute<TenantPayload>(due(system.clock.now()))
        await queueTenants(tx, each, rows)
      }),
  })
  return [find, each]
}
