// The results of all tax ids of an organization, its registrations included, in one place.
import type { Organization } from '../customers/schema.ts'
import type { TaxIdType, TaxIdValidation } from '../tax-ids/schema.ts'
import type { HasTaxIds } from '../tax-ids/with-checks.ts'

/** A tax id with the result of its check, and the country of the address that it stands beside. */
export type Checked = {
  readonly type: TaxIdType
  readonly country: string | null
  readonly result: TaxIdValidation
}

/** The same organization, with each result as `change` makes it. Pure. */
export function withValidations(
  organization: Organization,
  change: (checked: Checked) => TaxIdValidation,
): Organization {
  const changed = inParty(organization, change)
  return organization.tax_registrations
    ? { ...changed, tax_registrations: organization.tax_registrations.map(each => inParty(each, change)) }
    : changed
}

function inParty<T extends HasTaxIds>(party: T, change: (checked: Checked) => TaxIdValidation): T {
  const country = party.registered_address?.country ?? null
  const { tax_id_validation_result: result, tax_ids } = party
  return {
    ...party,
    ...(result ? { tax_id_validation_result: change({ type: 'GENERIC_TAX_ID', country, result }) } : {}),
    ...(tax_ids
      ? {
          tax_ids: tax_ids.map(each =>
            each.tax_id_validation_result
              ? {
                  ...each,
                  tax_id_validation_result: change({ type: each.type, country, result: each.tax_id_validation_result }),
                }
              : each,
          ),
        }
      : {}),
  }
}

/** Every result of an organization. Pure. */
export function validationsIn(organization: Organization): Checked[] {
  const all: Checked[] = []
  withValidations(organization, checked => {
    all.push(checked)
    return checked.result
  })
  return all
}

/** Whether its form is right and no authority has said yet whether it exists. */
export const isUnverified = ({ result }: Checked): boolean => result.source === 'FORMAT' && result.valid === 'UNKNOWN'
