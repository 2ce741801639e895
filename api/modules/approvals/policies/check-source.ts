// What policies can be about: the kinds of things that modules above put into APPROVAL_SOURCES.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { SourceType } from '../schema.ts'
import { type ApprovalSource, sourcesOf } from '../sources.ts'

/** Throws INVALID_FIELD for a kind of thing that nothing submits yet: a policy that is accepted and never applies would mislead. */
export function checkSource(uow: Uow, type: SourceType): ApprovalSource {
  const sources = sourcesOf(uow)
  const source = sources.find(each => each.type === type)
  if (source) return source
  const message = `Nothing of type ${type} is submitted for approval yet; use ${sources.map(each => each.type).join(' or ')}.`
  throw new AppError('INVALID_FIELD', message, { field: 'source_type' })
}
