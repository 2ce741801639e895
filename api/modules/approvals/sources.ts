// What can need an approval. A module above puts its own kind of thing here: approvals know none of them.
import type { Uow } from '../../../shared/database/database.ts'
import { extensionsOf, type Place } from '../../resource/rules.ts'
import type { SourceType } from './schema.ts'
import type { ApprovalRequest } from './table.ts'

export type ApprovalSource = {
  readonly type: SourceType
  /** The object types whose custom fields its facts have. */
  readonly withCustomFields: readonly string[]
  /** What follows in the transaction of the decision, which has locked the request. What it throws refuses the approval. */
  readonly approved: (uow: Uow, request: ApprovalRequest) => Promise<void>
  /** The thing is as it was before it was submitted. */
  readonly refused: (uow: Uow, request: ApprovalRequest) => Promise<void>
}

export const APPROVAL_SOURCES: Place<ApprovalSource> = { name: 'what can need an approval' }

/** Every kind of thing that can need an approval here. */
export const sourcesOf = (uow: Uow): readonly ApprovalSource[] => extensionsOf(uow, APPROVAL_SOURCES)
