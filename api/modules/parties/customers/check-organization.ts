// An organization as it is saved: each of its tax ids with what its check said.
import type { Instant } from '../../../../shared/time.ts'
import { withRegistrationChecks, withTaxIdChecks } from '../tax-ids/with-checks.ts'
import type { Organization } from './schema.ts'

/** Throws INVALID_FIELD for a tax id that the organization cannot have. */
export async function checkedOrganization(
  organization: Organization,
  previous: Organization | null | undefined,
  now: Instant,
): Promise<Organization> {
  const check = { path: 'organization', now }
  const { tax_registrations: registrations, ...rest } = await withTaxIdChecks(organization, previous ?? null, check)
  if (!registrations) return rest
  return { ...rest, tax_registrations: await withRegistrationChecks(registrations, previous?.tax_registrations, check) }
}
