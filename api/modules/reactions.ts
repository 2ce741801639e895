// Everything that follows from a change inside the service. A reaction that is not here never runs.
import type { Reaction } from '../workers/reaction.ts'
import { reprocessReactions } from './billing/reprocess/reprocess-jobs.ts'
import { billingReactions } from './billing/run/billing-jobs.ts'
import { downloadReactions } from './ingestion/files/download/download-jobs.ts'
import { fileReactions } from './ingestion/files/process/file-jobs.ts'

export const REACTIONS: readonly Reaction[] = [
  ...billingReactions,
  ...reprocessReactions,
  ...fileReactions,
  ...downloadReactions,
]
