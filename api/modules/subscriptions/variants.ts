// What the variant of a subscription needs: who gets the invoices of FORWARD_BILLING, and for whom SELLER bills (semantics 4.1).
import { type SQL, sql } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Id } from '../../../shared/ids.ts'
import { findOne, getOne, requireAll } from '../../resource/store.ts'
import { whyGone } from '../parties/customers/customer-status.ts'
import { customerResource } from '../parties/customers/resource.ts'
import type { Subscription } from './table.ts'

/** The customer that gets the invoices; null for a TEMPLATE. */
export const billedCustomerOf = ({
  customer_id,
  forward_customer_id,
}: Pick<Subscription, 'customer_id' | 'forward_customer_id'>): Id<'cust'> | null => forward_customer_id ?? customer_id

/** The same in SQL, for the alias `s` of subscriptions. */
export const BILLED_CUSTOMER: SQL = sql.raw('coalesce(s.forward_customer_id, s.customer_id)')

/** The members that only one variant has. */
const MEMBERS = [
  { variant: 'FORWARD_BILLING', name: 'forward_customer_id', says: 'Name the customer that gets the invoices.' },
  { variant: 'SELLER', name: 'seller_details', says: 'Name the seller that is billed for.' },
] as const

/** Throws MISSING_FIELD, INVALID_FIELD or RESOURCE_NOT_FOUND for what does not go with the variant. */
export async function checkVariant(uow: Uow, row: Subscription, previous: Subscription | null): Promise<void> {
  for (const { variant, name, says } of MEMBERS) {
    if (row[name] !== null && row.variant !== variant) {
      const message = `Only a subscription of the variant ${variant} has ${name}; leave it out.`
      throw new AppError('INVALID_FIELD', message, { field: name })
    }
    // A TEMPLATE is for any of them; `init` names one on top of it.
    if (row[name] === null && row.variant === variant && row.type !== 'TEMPLATE')
      throw new AppError('MISSING_FIELD', says, { field: name })
  }
  await checkSupplier(uow, row, previous)
  await checkForward(uow, row, previous)
  await checkSeller(uow, row, previous)
}

/** A supplier is invoiced in its own name alone. */
async function checkSupplier(uow: Uow, { customer_id: id, variant }: Subscription, previous: Subscription | null) {
  if (id === null || variant === 'SELF_BILLING' || id === previous?.customer_id) return
  if (!(await getOne(uow, customerResource, id)).roles.includes('SELF_BILLING')) return
  const message = 'The customer has the role SELF_BILLING; its subscriptions are of the variant SELF_BILLING.'
  throw new AppError('INVALID_FIELD', message, { field: 'variant' })
}

async function checkForward(uow: Uow, row: Subscription, previous: Subscription | null): Promise<void> {
  const { forward_customer_id: id } = row
  if (id === null || (id === previous?.forward_customer_id && row.customer_id === previous.customer_id)) return
  const field = 'forward_customer_id'
  if (id === row.customer_id)
    throw new AppError('INVALID_FIELD', 'It is the customer itself; name another, or use the variant DEFAULT.', {
      field,
    })
  const customer = await getOne(uow, customerResource, id)
  const gone = whyGone(customer)
  if (gone) throw new AppError('INVALID_FIELD', `This CUSTOMER is ${gone} and gets no more invoices.`, { field })
  if (customer.roles.includes('SELF_BILLING')) {
    const message = 'The customer has the role SELF_BILLING: it is a supplier, and gets no invoices. Name another.'
    throw new AppError('INVALID_FIELD', message, { field })
  }
}

async function checkSeller(uow: Uow, row: Subscription, previous: Subscription | null): Promise<void> {
  const id = row.seller_details?.seller_customer_id
  if (id === undefined) return
  if (id === previous?.seller_details?.seller_customer_id && row.customer_id === previous.customer_id) return
  const field = 'seller_details.seller_customer_id'
  if (id === row.customer_id)
    throw new AppError('INVALID_FIELD', 'It is the customer itself; name another, or use the variant DEFAULT.', {
      field,
    })
  await requireAll(uow, customerResource, [{ id, field }])
  const seller = await getOne(uow, customerResource, id)
  if (seller.roles.includes('SELLER') && !whyGone(seller)) return
  throw new AppError(
    'INVALID_FIELD',
    'Name a customer with the role SELLER that is not CLOSED, ARCHIVED or forgotten.',
    {
      field,
    },
  )
}

/** The billing entity of the seller of a subscription; null where it has none, or there is no such seller. */
export async function entityOfSeller(
  uow: ReadUow,
  { seller_details }: Partial<Pick<Subscription, 'seller_details'>>,
): Promise<string | null> {
  const id = seller_details?.seller_customer_id
  const seller = id ? await findOne(uow, customerResource, id) : null
  return seller?.seller_details?.default_billing_entity_id ?? null
}
