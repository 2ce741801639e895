// The parties of an e-invoice (BG-4, BG-7) from the snapshots of the invoice.
import { isCountry } from '../../../../../shared/codes/iso-codes.ts'
import type { HasTaxIds } from '../../../parties/tax-ids/with-checks.ts'
import { type AddressInput, addressOf, customerName } from '../../document/parties.ts'
import { bestTaxId } from '../../document/tax/tax-id-findings.ts'
import type { InvoiceView } from '../../schema.ts'
import { customerOf, issuerOf } from '../model/parties.ts'
import { printable } from '../model/printable.ts'
import type { EInvoiceParty } from './e-invoice-model.ts'
import { notExpressible } from './refusal.ts'

/**
 * The seller and the buyer: on a SELF_BILLING invoice the customer sells. Throws INVALID_OPERATION where one has no country.
 */
export function eInvoiceParties(invoice: InvoiceView): {
  readonly seller: EInvoiceParty
  readonly buyer: EInvoiceParty
} {
  return invoice.billing_type === 'SELF_BILLING'
    ? { seller: customerParty(invoice, { sells: true }), buyer: { ...issuerParty(invoice), taxRegistration: null } }
    : { seller: issuerParty(invoice), buyer: customerParty(invoice, { sells: false }) }
}

/** The billing entity. */
function issuerParty(invoice: InvoiceView): EInvoiceParty {
  const entity = issuerOf(invoice)
  const address = addressIn(entity.registered_address, 'billing_entity.registered_address.country')
  const used = invoice.used_tax_registration
  const ofUsed = used ? vatIdOf(bestTaxId(used).id, used.country) : null
  const vatId = ofUsed ?? vatIdOf(bestTaxId(entity).id, address.country)
  return {
    name: printable(entity.legal_name ?? entity.reference),
    reference: text(entity.reference),
    registrationNumber: text(entity.registration_number),
    vatId,
    taxRegistration: vatId === null ? registrationOf([...(used?.tax_ids ?? []), ...(entity.tax_ids ?? [])]) : null,
    electronicAddress: electronicAddress(entity.email, vatId),
    email: text(entity.email),
    address,
  }
}

function customerParty(invoice: InvoiceView, { sells }: { readonly sells: boolean }): EInvoiceParty {
  const customer = customerOf(invoice)
  const member = customer.type === 'ORGANIZATION' ? 'organization.registered_address' : 'individual.residential_address'
  const address = addressIn(addressOf(customer), `customer.${member}.country`)
  const organization = customer.type === 'ORGANIZATION' ? customer.organization : null
  const vatId = vatIdOf(bestTaxId(organization).id, address.country)
  return {
    name: printable(customerName(customer)),
    reference: text(customer.reference),
    registrationNumber: text(organization?.registration_number),
    vatId,
    taxRegistration: sells && vatId === null ? registrationOf(organization?.tax_ids ?? []) : null,
    electronicAddress: electronicAddress(customer.email, vatId),
    email: text(customer.email),
    address,
  }
}

/** The first id that is not a VAT id. */
function registrationOf(ids: NonNullable<HasTaxIds['tax_ids']>): string | null {
  const typed = ids.find(({ type }) => type !== 'GENERIC_TAX_ID')
  return typed ? text(typed.id) : null
}

const text = (value: string | null | undefined): string | null => (value ? printable(value) || null : null)

function addressIn(address: AddressInput | null, field: string): EInvoiceParty['address'] {
  if (!address?.country) {
    throw notExpressible(
      field,
      'the country of a party is missing. Fill it in, then credit the invoice and bill again.',
    )
  }
  return {
    line1: text(address.line1),
    line2: text(address.line2),
    city: text(address.city),
    postalCode: text(address.postal_code),
    state: text(address.state),
    country: address.country,
  }
}

/** A VAT id starts with the code of its country, which is EL for Greece and XI for Northern Ireland (BR-CO-9). */
function vatIdOf(id: string | null, country: string): string | null {
  const plainId = (id ?? '')
    .normalize('NFKC')
    .replace(/[^0-9A-Za-z]/g, '')
    .toUpperCase()
  if (plainId === '') return null
  const prefix = plainId.slice(0, 2)
  if (prefix === 'EL' || prefix === 'XI' || isCountry(prefix)) return plainId
  return `${country === 'GR' ? 'EL' : country}${plainId}`
}

/** The schemes of electronic addresses (EAS code list) that are a country's VAT ids. */
const VAT_ID_SCHEMES: Readonly<Record<string, string>> = {
  AT: '9914',
  BE: '9925',
  BG: '9926',
  CH: '9927',
  CY: '9928',
  CZ: '9929',
  DE: '9930',
  EE: '9931',
  EL: '9933',
  ES: '9920',
  FR: '9957',
  GB: '9932',
  HR: '9934',
  HU: '9910',
  IE: '9935',
  LI: '9936',
  LT: '9937',
  LU: '9938',
  LV: '9939',
  MT: '9943',
  NL: '9944',
  PL: '9945',
  PT: '9946',
  RO: '9947',
  SI: '9949',
  SK: '9950',
}

/** The e-mail address, otherwise the VAT id where a network knows it as an address. */
function electronicAddress(email: string | null, vatId: string | null): EInvoiceParty['electronicAddress'] {
  const address = text(email)
  if (address !== null) return { scheme: 'EM', id: address }
  const scheme = VAT_ID_SCHEMES[vatId?.slice(0, 2) ?? '']
  return vatId === null || scheme === undefined ? null : { scheme, id: vatId }
}
