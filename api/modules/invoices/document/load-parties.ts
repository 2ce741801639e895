// Reads the parties of an invoice. Only the columns that a document depends on, so that two readings of one state are
// equal.
import { and } from 'drizzle-orm'
import { taxCurrencies } from '../../../../shared/billing/tax/tax-currencies.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { type Instant, instantOf } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { billingEntities } from '../../parties/billing-entities/table.ts'
import { customers } from '../../parties/customers/table.ts'
import { loadRates, ratesOf } from '../../parties/exchange-rates/load-rates.ts'
import { platforms } from '../../parties/platforms/table.ts'
import { loadTaxRates } from '../../parties/tax-rates/load-tax-rates.ts'
import {
  addressOf,
  type BillingEntityInput,
  type CustomerInput,
  type InvoicingSettings,
  type Parties,
} from './parties.ts'
import { loadTaxAnswersOf, type TaxedParties } from './tax/load-tax-answers.ts'

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
    .where(and(inThisTenant(uow, c), anyOf(c.id, idsOf('cust', new Set(ids)))))
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
    .where(and(inThisTenant(uow, b), anyOf(b.id, idsOf('bill', new Set(ids)))))
  return new Map(rows.map(row => [row.id, row as BillingEntityInput]))
}

type Both = Pick<Parties, 'customer' | 'billing_entity'>

const countriesOf = ({ customer, billing_entity }: Both): string[] =>
  [billing_entity.registered_address, addressOf(customer)].flatMap(address => address?.country ?? [])

/**
 * The platform's own tax rates that can apply between the parties of each invoice, and what the tax engine said about them, as members
 * of `Parties`. No member where there is none, so that a rate changes the inputs of those invoices alone that it can apply to.
 */
export async function loadTaxRatesOf(
  uow: ReadUow,
  all: readonly TaxedParties[],
): Promise<(of: TaxedParties) => Pick<Parties, 'tax_rates' | 'tax_answers'>> {
  const answersOf = await loadTaxAnswersOf(uow, all)
  const loaded = await loadTaxRates(uow, [...new Set(all.flatMap(countriesOf))])
  return of => {
    const countries = countriesOf(of)
    const own = loaded.filter(({ country }) => countries.includes(country))
    return { ...(own.length === 0 ? {} : { tax_rates: own }), ...answersOf(of) }
  }
}

type Invoiced = Both & { readonly currency: string; readonly since: Instant }

/** The currencies in which the tax of an invoice may have to be stated, besides its own; empty when that is the only one. */
function currenciesOfTax({ customer, billing_entity, currency }: Invoiced): string[] {
  const { registered_address, tax_registrations } = billing_entity
  const addresses = [
    registered_address,
    addressOf(customer),
    ...(tax_registrations ?? []).map(each => each.registered_address),
  ]
  const all = new Set(addresses.flatMap(address => taxCurrencies(address?.country ?? '')))
  all.delete(currency)
  return [...all]
}

/**
 * The exchange rates by which the tax of each invoice is stated in the currency of its authority, as a member of `Parties`: the
 * same for one whichever others are read with it. Those that need none cause no query.
 */
export async function loadTaxExchange(
  uow: ReadUow,
  invoiced: readonly Invoiced[],
): Promise<(of: Invoiced) => Pick<Parties, 'tax_exchange_rates'>> {
  const foreign = invoiced.filter(each => currenciesOfTax(each).length > 0)
  const between = (of: Invoiced) => [of.currency, ...currenciesOfTax(of)]
  const since = instantOf(Math.min(...foreign.map(each => each.since)))
  const loaded = foreign.length === 0 ? [] : await loadRates(uow, [...new Set(foreign.flatMap(between))], since)
  return of => {
    if (currenciesOfTax(of).length === 0) return {}
    return { tax_exchange_rates: ratesOf(loaded, between(of), of.since) }
  }
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
