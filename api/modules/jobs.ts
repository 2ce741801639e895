// Every background job of the worker. A job that is not here never runs.
import { actionJobs, type FinishDeps } from '../http/actions/finish-actions.ts'
import { expireKeys } from '../http/expire-idempotency-keys.ts'
import { expireOutbox } from '../workers/outbox-retention.ts'
import { verifyAuditEveryNight } from './accounts/audit/verify-audit.ts'
import { alertJobs } from './alerts/jobs.ts'
import { reprocessJobs } from './billing/reprocess/reprocess-jobs.ts'
import { billingJobs } from './billing/run/billing-jobs.ts'
import { amendEventAction } from './ingestion/events/amend-event.ts'
import { deleteEventAction } from './ingestion/events/delete-event.ts'
import type { EventsDeps } from './ingestion/events/list-events.ts'
import { downloadJobs } from './ingestion/files/download/download-jobs.ts'
import { fileJobs } from './ingestion/files/process/file-jobs.ts'

/** Every action with effects outside: the worker finishes those that were left between. */
export const ACTIONS = [deleteEventAction, amendEventAction] as const

export const JOBS = [
  ...actionJobs<FinishDeps & EventsDeps>(ACTIONS),
  ...billingJobs(),
  ...reprocessJobs(),
  ...fileJobs,
  ...downloadJobs,
  ...alertJobs,
  verifyAuditEveryNight,
  expireKeys,
  expireOutbox,
] as const
