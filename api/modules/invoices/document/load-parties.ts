// Reads the parties of an invoice. Only the columns that a document depends on, so that two readings of one state are
// equal.
import { and, inArray } from 'drizzle-orm'
import type { PlatformTaxRate } from '../../../../shared/billing/tax-rates.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { billingEntities } from '../../parties/billing-entities/table.ts'
import { customers } from '../../parties/customers/table.ts'
import { platforms } from '../../parties/platforms/table.ts'
import {
  addressOf,
  type BillingEntityInput,
  type CustomerInput,
  type InvoicingSettings,
  type Parties,
} from './parties.ts'

/** The columns of the platform that a document depends on, to select alone or with others. */
export const SETTINGS_COLUMNS = {
  timezone: platforms.timezone,
  default_product_tax_category: platforms.default_product_tax_category,
  invoice_settings: platforms.invoice_settings,
  rounding_settings: platforms.rounding_settings,
}

export async function loadInvoicingSettings(uow: ReadUow): Promise<InvoicingSettings> {
  const [row] = await uow.tx.select(SETTINGS_COLUMNS).from(platforms).where(inThisTenant(uow, platforms))
  if (!row) throw new Error('every tenant has a platform')
  return row
}

/** The error for an id that the tenant does not have. */
export const missing = (objectType: string, id: string): AppError =>
  new AppError('RESOURCE_NOT_FOUND', `There is no ${objectType} ${JSON.stringify(id)}.`, { resourceType: objectType })

/** By id; an id that the tenant does not have is absent. */
export async function loadCustomers(uow: ReadUow, ids: readonly string[]): Promise<Map<string, CustomerInput>> {
  const c = customers
  const rows = await uow.tx
    .select({
      id: c.id,
      reference: c.reference,
      type: c.type,
      timezone: c.timezone,
      email: c.email,
      locale: c.locale,
      individual: c.individual,
      organization: c.organization,
    })
    .from(c)
    .where(and(inThisTenant(uow, c), inArray(c.id, idsOf('cust', new Set(ids)))))
  return new Map(rows.map(row => [row.id, row as CustomerInput]))
}

/** By id; an id that the tenant does not have is absent. */
export async function loadBillingEntities(
  uow: ReadUow,
  ids: readonly string[],
): Promise<Map<string, BillingEntityInput>> {
  const b = billingEntities
  const rows = await uow.tx
    .select({
      id: b.id,
      reference: b.reference,
      timezone: b.timezone,
      legal_name: b.legal_name,
      tax_id: b.tax_id,
      tax_ids: b.tax_ids,
      registration_number: b.registration_number,
      registered_address: b.registered_address,
      email: b.email,
      tax_settings: b.tax_settings,
      tax_registrations: b.tax_registrations,
    })
    .from(b)
    .where(and(inThisTenant(uow, b), inArray(b.id, idsOf('bill', new Set(ids)))))
  return new Map(rows.map(row => [row.id, row as BillingEntityInput]))
}

/**
 * The platform's own tax rates that can apply between these two, as a member of `Parties`. No member where there are none, so that a
 * rate changes the inputs of those invoices alone that it can apply to.
 */
export function taxRatesBetween(
  all: readonly PlatformTaxRate[],
  { customer, billing_entity }: Pick<Parties, 'customer' | 'billing_entity'>,
): Pick<Parties, 'tax_rates'> {
  const countries = [billing_entity.registered_address, addressOf(customer)].map(address => address?.country)
  const own = all.filter(({ country }) => countries.includes(country))
  return own.length === 0 ? {} : { tax_rates: own }
}

/** Throws RESOURCE_NOT_FOUND when the tenant has no such customer. */
export async function loadCustomer(uow: ReadUow, id: string): Promise<CustomerInput> {
  const found = (await loadCustomers(uow, [id])).get(id)
  if (!found) throw missing('CUSTOMER', id)
  return found
}

/** Throws RESOURCE_NOT_FOUND when the tenant has no such billing entity. */
export async function loadBillingEntity(uow: ReadUow, id: string): Promise<BillingEntityInput> {
  const found = (await loadBillingEntities(uow, [id])).get(id)
  if (!found) throw missing('BILLING_ENTITY', id)
  return found
}
