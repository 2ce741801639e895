// Who gets the invoices of a customer by e-mail: its own address and those of its contacts, as they are now.
import { and, asc, eq } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { idOf } from '../../../../shared/ids.ts'
import { isMailAddress } from '../../../../shared/mail/transport.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { contacts } from '../../parties/contacts/table.ts'
import { customers } from '../../parties/customers/table.ts'
import { type NotificationPreferences, wantsInvoices } from '../../parties/notification-preferences.ts'

type Party = { readonly email: string | null; readonly notification_preferences: NotificationPreferences | null }
export type Recipients = { readonly to: string; readonly cc: readonly string[] }

/** Mail servers take about a hundred recipients of one letter. */
const CONTACTS_MAX = 50

/** The recipients of a customer's invoices; null when there is none. */
export async function recipientsOf(uow: ReadUow, customerId: string): Promise<Recipients | null> {
  const [c, p] = [customers, contacts]
  const id = idOf('cust', customerId)
  const [customer] = await uow.tx
    .select({ email: c.email, notification_preferences: c.notification_preferences })
    .from(c)
    .where(and(inThisTenant(uow, c), eq(c.id, id)))
  const people = await uow.tx
    .select({ email: p.email, notification_preferences: p.notification_preferences })
    .from(p)
    .where(and(inThisTenant(uow, p), eq(p.customer_id, id)))
    .orderBy(asc(p.created_at), asc(p.id))
  return addressed([...(customer ? [customer] : []), ...people])
}

/** The first that has an address and wants invoices is written to, the others get a copy; each address once. */
export function addressed(parties: readonly Party[]): Recipients | null {
  const wanted = parties.flatMap(({ email, notification_preferences: preferences }) =>
    email !== null && isMailAddress(email) && wantsInvoices(preferences) ? [email] : [],
  )
  const [to, ...cc] = [...groupBy(wanted, email => email.toLowerCase()).values()].flatMap(([first]) => first ?? [])
  return to === undefined ? null : { to, cc: cc.slice(0, CONTACTS_MAX) }
}
