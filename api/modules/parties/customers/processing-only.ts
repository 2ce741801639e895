// `processing_only`, the older way to say that a customer has the role PROCESSING_ONLY.
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../../../shared/errors.ts'
import type { Customer } from './table.ts'

/** The other way to give the one role. */
export type GivenProcessingOnly = { readonly processing_only?: boolean | null }

/** The roles of a customer that was given none. */
export const defaultRoles = ({ processing_only: given }: GivenProcessingOnly): Customer['roles'] =>
  given === true ? ['PROCESSING_ONLY'] : ['DEFAULT']

/** A customer with its role in `roles`, whichever of the two fields gave it. Throws INVALID_FIELD when both changed, and disagree. */
export function withRole(row: Customer & GivenProcessingOnly, previous: Customer | null): Customer {
  const { processing_only: given, ...rest } = row
  const isOnly = ({ roles }: Pick<Customer, 'roles'>): boolean => roles.includes('PROCESSING_ONLY')
  if (given === undefined || given === null || given === isOnly(rest)) return rest
  if (previous && given === isOnly(previous)) return rest
  if (previous && isDeepStrictEqual(rest.roles, previous.roles))
    return { ...rest, roles: defaultRoles({ processing_only: given }) }
  throw new AppError('INVALID_FIELD', 'It says something else than roles; send one of the two.', {
    field: 'processing_only',
  })
}
