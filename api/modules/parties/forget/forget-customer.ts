// Erases what identifies a person (semantics 4.4: forget). Books stay as they are: FINAL invoices show who was billed.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { saveChange } from '../../../resource/commands.ts'
import { planValues } from '../../../resource/custom-fields/values.ts'
import { lockExisting } from '../../../resource/store.ts'
import { customerResource } from '../customers/resource.ts'
import type { Organization } from '../customers/schema.ts'
import type { Customer } from '../customers/table.ts'

/**
 * Clears e-mail, names, addresses, tax ids and custom fields of an ARCHIVED or DRAFT customer, and deletes its contacts. The id, the
 * reference and the country stay, since usage and books name them. One that is forgotten already stays as it is. Throws
 * INVALID_OPERATION for any other status, and while an invoice of it is not closed.
 */
export async function forgetCustomer(uow: Uow, idOrReference: string): Promise<Customer> {
  const customer = await lockExisting(uow, customerResource, idOrReference)
  if (customer.forgotten_at !== null) return customer
  if (customer.status !== 'ARCHIVED' && customer.status !== 'DRAFT')
    throw new AppError('INVALID_OPERATION', `The customer is ${customer.status}; archive it first.`, {
      field: 'status',
      resourceId: customer.id,
      resourceType: customerResource.objectType,
    })
  const cleared = await planValues(
    uow,
    { resourceType: 'CUSTOMER', resourceId: customer.id },
    { given: undefined, action: 'CLEAR' },
  )
  return await saveChange(
    uow,
    customerResource,
    customer,
    {
      forgotten_at: formatInstant(uow.now),
      email: null,
      individual: null,
      organization: withoutIdentity(customer.organization),
    },
    cleared,
  )
}

/** The country, which statistics of tax need, and nothing else. */
function withoutIdentity(organization: Organization | null): Organization | null {
  const country = organization?.registered_address?.country
  return country ? { registered_address: { country } } : null
}
