// The overrides that a body states, beside those that a schedule has.
import { AppError } from '../../../../shared/errors.ts'
import type { Schedule } from '../table.ts'
import { changedOverrides, pathInBody } from './merge-overrides.ts'
import type { GivenOverride } from './schema.ts'

type Body = Readonly<Record<string, unknown>>

/** The overrides of a body; null where it says nothing of them. */
export const givenIn = (body: Body): readonly GivenOverride[] | null =>
  (body['override_pricings'] as readonly GivenOverride[] | null | undefined) ?? null

/** Throws INVALID_FIELD for an override of a new schedule that changes no price. */
export function requireOverrides(body: Body): void {
  for (const [index, entry] of (givenIn(body) ?? []).entries()) {
    if (changedOverrides([], [entry]).length > 0) continue
    const message = 'The override changes no price; name an item, and what its prices are.'
    throw new AppError('INVALID_FIELD', message, { field: `override_pricings.${index}.items` })
  }
}

/**
 * Saves a change of a schedule with the overrides that result from it: those that the body does not name stay as they are
 * stored (contract: PATCH of a schedule). What is refused is named by where the body says it.
 */
export async function withGivenOverrides<T>(
  { override_pricings: stored }: Schedule,
  body: Body,
  save: (overrides: { readonly override_pricings?: Schedule['override_pricings'] }) => Promise<T>,
): Promise<T> {
  const given = givenIn(body)
  if (given === null) return await save({})
  for (const [index, { name, items }] of given.entries()) {
    if ((name ?? null) === null || items.length > 0) continue
    const message = 'A name goes with the prices that it is of; name an item, and what its prices are.'
    throw new AppError('INVALID_FIELD', message, { field: `override_pricings.${index}.items` })
  }
  const override_pricings = changedOverrides(stored, given)
  try {
    return await save({ override_pricings })
  } catch (error) {
    const field = error instanceof AppError ? error.details.field : undefined
    if (!(error instanceof AppError) || !field?.startsWith('override_pricings.')) throw error
    throw error.at(pathInBody(field, override_pricings, given))
  }
}
