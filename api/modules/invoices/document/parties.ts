// The parties of an invoice and the invoice settings of the platform: plain values in wire shape. Only what a document
// depends on is here, so that two readings of the same state are equal.
import type { RoundingMode } from '../../../../shared/billing/amount-pipeline.ts'
import type { ExchangeRate } from '../../../../shared/billing/exchange/exchange-rates.ts'
import { type Zone, zoneOf } from '../../../../shared/billing/local-days.ts'
import { TAX_CATEGORIES, type TaxCategory } from '../../../../shared/billing/tax/tax.ts'
import type { StoredTaxAnswer } from '../../../../shared/billing/tax/tax-engine.ts'
import type { PlatformTaxRate } from '../../../../shared/billing/tax/tax-rates.ts'
import type { NumberField } from '../../parties/platforms/number-fields.ts'
import type { InvoiceSettings } from '../../parties/platforms/schema.ts'
import type { TaxRegistration } from '../../parties/tax-ids/schema.ts'
import type { HasTaxIds } from '../../parties/tax-ids/with-checks.ts'

export type AddressInput = {
  readonly line1?: string | null
  readonly line2?: string | null
  readonly city?: string | null
  readonly postal_code?: string | null
  readonly state?: string | null
  readonly country?: string | null
}

export type CustomerInput = {
  readonly id: string
  readonly reference: string | null
  readonly type: 'ORGANIZATION' | 'INDIVIDUAL'
  readonly timezone: string | null
  readonly email: string | null
  readonly locale: string | null
  readonly individual: {
    readonly name?: { first_name?: string | null; last_name?: string | null; infix?: string | null }
    readonly residential_address?: AddressInput | null
  } | null
  readonly organization:
    | (HasTaxIds & {
        readonly legal_name?: string | null
        readonly registration_number?: string | null
        readonly tax_exempt?: boolean | null
        /** The part of STANDARD amounts that is exempt, in per cent. */
        readonly tax_exempt_percentage?: string | null
        readonly tax_exempt_note?: string | null
        readonly registered_address?: AddressInput | null
      })
    | null
}

/** A customer named on another customer's invoice: only its name is kept. */
export type NamedCustomer = Pick<CustomerInput, 'id' | 'reference' | 'type'> & {
  readonly individual: Pick<NonNullable<CustomerInput['individual']>, 'name'> | null
  readonly organization: Pick<NonNullable<CustomerInput['organization']>, 'legal_name'> | null
}

export type BillingEntityInput = {
  readonly id: string
  readonly reference: string
  readonly timezone: string | null
  readonly legal_name: string | null
  readonly tax_id: string | null
  readonly tax_ids: NonNullable<HasTaxIds['tax_ids']> | null
  readonly registration_number: string | null
  readonly registered_address: AddressInput | null
  readonly email: string | null
  readonly tax_settings: {
    readonly apply_local_vat_for_missing_tax_id?: boolean | null
    readonly provider?: 'BUILT_IN' | 'EXTERNAL' | null
  } | null
  readonly tax_registrations: readonly Partial<TaxRegistration>[] | null
}

export type InvoicingSettings = {
  readonly timezone: string
  readonly default_product_tax_category: string | null
  readonly invoice_settings: InvoiceSettings
  readonly rounding_settings: readonly { readonly rounding_target?: string; readonly rounding_mode?: string }[]
}

export type Parties = {
  readonly platform: InvoicingSettings
  readonly customer: CustomerInput
  readonly billing_entity: BillingEntityInput
  /** The custom fields that the number of the invoice shows. */
  readonly number_fields: readonly NumberField[]
  /** The platform's own tax rates of the countries of the parties; absent where there are none. */
  readonly tax_rates?: readonly PlatformTaxRate[]
  /** What the tax engine said about these parties; absent where it is not asked. */
  readonly tax_answers?: readonly StoredTaxAnswer[]
  /**
   * The exchange rates between the currency of the invoice and those of the tax authorities; empty where the platform has none.
   * Absent where the invoice is in the currency of the authority.
   */
  readonly tax_exchange_rates?: readonly ExchangeRate[]
}

type Zoned = { readonly timezone: string | null }

/**
 * The zone in which an invoice is dated and its days are cut: customer → billing entity → platform → UTC (semantics
 * 0.4).
 */
export function zoneOfParties({
  customer,
  billing_entity,
  platform,
}: {
  readonly [Name in 'platform' | 'customer' | 'billing_entity']: Zoned
}): Zone {
  for (const name of [customer.timezone, billing_entity.timezone, platform.timezone, 'UTC']) {
    const zone = name === null ? null : zoneOf(name)
    if (zone !== null) return zone
  }
  throw new Error('UTC is a zone')
}

/** How the platform rounds its invoices (semantics 0.5). */
export const roundingOf = ({ platform }: Pick<Parties, 'platform'>): RoundingMode =>
  platform.rounding_settings.find(setting => setting.rounding_target === 'INVOICE')?.rounding_mode === 'UNROUNDED'
    ? 'UNROUNDED'
    : 'DEFAULT'

/** The default tax category (semantics 2). */
export const defaultTaxCategory = ({ platform }: Pick<Parties, 'platform'>): TaxCategory =>
  TAX_CATEGORIES.find(known => known === platform.default_product_tax_category) ?? 'STANDARD'

/** The address that decides tax and appears on the document. */
export const addressOf = (customer: CustomerInput): AddressInput | null =>
  (customer.type === 'ORGANIZATION'
    ? customer.organization?.registered_address
    : customer.individual?.residential_address) ?? null

/** The name of a customer on an invoice. */
export function customerName({ organization, individual, reference, id }: NamedCustomer): string {
  const { first_name, infix, last_name } = individual?.name ?? {}
  const person = [first_name, infix, last_name].filter(part => !!part).join(' ')
  return organization?.legal_name || person || reference || id
}
