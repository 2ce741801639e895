// What is saved of a party's tax ids: the ids, and what the check of each said when it was first saved as it is.
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import { withIds } from '../../../resource/nested-ids.ts'
import { checkTaxId, type TaxIdToCheck } from './check-tax-id.ts'
import { TAX_ID_TYPES, type TaxIds, type TaxIdType, type TaxIdValidation, type TaxRegistration } from './schema.ts'

/** The tax ids of a company, or of one of its registrations. `tax_id` is a GENERIC_TAX_ID. */
export type HasTaxIds = {
  readonly tax_id?: string | null
  readonly tax_id_validation_result?: TaxIdValidation | null
  readonly tax_ids?: TaxIds | null
  readonly registered_address?: { readonly country?: string | null } | null
}

export type Check = {
  /** Where the fields stand in the body, such as `organization`; empty for the body itself. */
  readonly path: string
  readonly now: Instant
}

/** The types that a company of this country can have an id of; all, when the country is not known. */
export const allowedTypes = (country: string | null): readonly TaxIdType[] =>
  TAX_ID_TYPES.filter(type => type === 'GENERIC_TAX_ID' || country === null || type.startsWith(`${country}_`))

/**
 * `of` with the result of the check beside each tax id. What was saved before keeps its date as long as the check says the same.
 * Throws INVALID_FIELD for a type of another country, and for an id of one type that is there twice.
 */
export async function withTaxIdChecks<T extends HasTaxIds>(
  of: T,
  previous: HasTaxIds | null,
  check: Check,
): Promise<T> {
  const country = of.registered_address?.country ?? null
  refuseMisplaced(of, country, check.path)
  const known = previous ? validationsOf(previous) : []
  // What an authority said was of the id in that country.
  const isMoved = (previous?.registered_address?.country ?? null) !== country
  const checked = async (id: string, type: TaxIdType): Promise<TaxIdValidation> =>
    await resultOf(
      { id, type, country },
      isMoved ? known.filter(({ source }) => source === 'FORMAT') : known,
      check.now,
    )
  const { tax_id: id, tax_ids: ids, tax_id_validation_result: _result, ...rest } = of
  return {
    ...rest,
    ...(id === undefined ? {} : { tax_id: id }),
    ...(id ? { tax_id_validation_result: await checked(id, 'GENERIC_TAX_ID') } : {}),
    ...(ids === undefined
      ? {}
      : {
          tax_ids:
            ids &&
            (await Promise.all(
              ids.map(async each => ({ ...each, tax_id_validation_result: await checked(each.id, each.type) })),
            )),
        }),
  } as T
}

/** As `withTaxIdChecks`, for each of a list of registrations, which also get ids. */
export async function withRegistrationChecks(
  registrations: readonly TaxRegistration[] | null | undefined,
  previous: readonly TaxRegistration[] | null | undefined,
  check: Check,
): Promise<TaxRegistration[] | null> {
  if (!registrations) return null
  const field = check.path === '' ? 'tax_registrations' : `${check.path}.tax_registrations`
  const identified = withIds(registrations, previous ?? [], { prefix: 'txrg', field })
  return await Promise.all(
    identified.map(async (registration, index) => {
      const before = previous?.find(({ id }) => id === registration.id) ?? null
      return await withTaxIdChecks(registration, before, { ...check, path: `${field}.${index}` })
    }),
  )
}

/** The results of a company's tax ids, in their order. */
export const validationsOf = ({ tax_id_validation_result: one, tax_ids }: HasTaxIds): TaxIdValidation[] => [
  ...(one ? [one] : []),
  ...(tax_ids ?? []).flatMap(each => each.tax_id_validation_result ?? []),
]

async function resultOf(
  question: TaxIdToCheck,
  known: readonly TaxIdValidation[],
  now: Instant,
): Promise<TaxIdValidation> {
  const verdict = await checkTaxId(question)
  const same = known.find(
    ({ id, source, valid, message }) =>
      id === question.id &&
      (source === 'FORMAT'
        ? valid === verdict.valid && message === verdict.message
        : // What the authority could not say is asked again.
          valid !== 'UNKNOWN' && verdict.valid !== 'NOT_VALID'),
  )
  return same ?? { id: question.id, validation_date: formatInstant(now), source: 'FORMAT', ...verdict }
}

function refuseMisplaced({ tax_ids }: HasTaxIds, country: string | null, path: string): void {
  const seen = new Set<string>()
  const allowed = allowedTypes(country)
  for (const [index, { id, type }] of (tax_ids ?? []).entries()) {
    const field = `${path === '' ? '' : `${path}.`}tax_ids.${index}`
    if (!allowed.includes(type)) {
      const message = `A company in ${country} has no tax id of type ${type}. Use ${allowed.join(', ')}, or put it on a tax registration there.`
      throw new AppError('INVALID_FIELD', message, { field: `${field}.type` })
    }
    if (seen.has(`${type} ${id}`))
      throw new AppError('INVALID_FIELD', `${JSON.stringify(id)} of type ${type} is there twice; send it once.`, {
        field: `${field}.id`,
      })
    seen.add(`${type} ${id}`)
  }
}
