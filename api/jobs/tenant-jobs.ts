// Jobs of which there is one a tenant: it takes what waits there, one after the other.
import type { SystemTransaction } from '../../shared/database/database.ts'
import type { Environment, Tenant } from '../../shared/tenant.ts'
import { type Job, queueJobs } from './define-job.ts'

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
