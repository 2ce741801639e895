// The job that bills one subscription by itself, as it is queued.
import type { SystemTransaction } from '../../../../../shared/database/database.ts'
import { queueJobs } from '../../../../jobs/define-job.ts'
import type { TenantPayload } from '../../../../jobs/tenant-jobs.ts'

/** Names a subscription across tenants; the payload of a `billing-run` job. */
export type DueSubscription = TenantPayload & { readonly id: string }

export const BILLING_RUN = { name: 'billing-run' }

/** Queues a run for each. */
export const queueBilling = (tx: SystemTransaction, due: readonly DueSubscription[]): Promise<void> =>
  queueJobs(
    tx,
    BILLING_RUN,
    due.map(({ platform_id, environment, id }) => ({ key: id, payload: { platform_id, environment, id } })),
  )
