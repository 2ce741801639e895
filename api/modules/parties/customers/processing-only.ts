// `processing_only`, the older way to say that a customer has the role PROCESSING_ONLY.
import { AppError } from '../../../../shared/errors.ts'
import type { Customer } from './table.ts'

/** The other way to give the one role. */
export type GivenProcessingOnly = { readonly processing_only?: boolean | null }

/** The roles of a customer that was given none. */
export const defaultRoles = ({ processing_only: given }: GivenProcessingOnly): Customer['roles'] =>
  given === true ? ['PROCESSING_ONLY'] : ['DEFAULT']

/** A customer with its role in one place, however it was given. Throws INVALID_FIELD when both forms disagree. */
export function withRole(row: Customer & GivenProcessingOnly): Customer {
  const { processing_only: given, ...rest } = row
  if (given === undefined || given === null || given === rest.roles.includes('PROCESSING_ONLY')) return rest
  throw new AppError('INVALID_FIELD', 'It says something else than roles; send one of the two.', {
    field: 'processing_only',
  })
}
