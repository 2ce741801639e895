// The parties of the invoice as blocks of text.
import type { TaxIdType } from '../../../parties/tax-ids/schema.ts'
import type { HasTaxIds } from '../../../parties/tax-ids/with-checks.ts'
import {
  type AddressInput,
  addressOf,
  type BillingEntityInput,
  type CustomerInput,
  customerName,
} from '../../document/parties.ts'
import type { InvoiceView } from '../../schema.ts'
import type { Formats } from '../words/formats.ts'
import type { Words } from '../words/table.ts'
import type { Block } from './document-model.ts'
import { printable } from './printable.ts'

type Line = string | null | undefined
type Context = { readonly words: Words; readonly formats: Formats }

/** The billing entity as it was when the invoice was computed: it issues every invoice, and sells unless that is SELF_BILLING. */
export const issuerOf = (invoice: InvoiceView): BillingEntityInput =>
  invoice.billing_entity as unknown as BillingEntityInput
/** The customer as it was when the invoice was computed. */
export const customerOf = (invoice: InvoiceView): CustomerInput => invoice.customer as unknown as CustomerInput

/** The name of the billing entity. */
export const issuerName = (invoice: InvoiceView): string => {
  const { legal_name, reference } = issuerOf(invoice)
  return printable(legal_name ?? reference)
}

/** Who supplies, and who is supplied. On a SELF_BILLING invoice the customer supplies, and the billing entity issues it. */
export function partyBlocks(invoice: InvoiceView, context: Context): { readonly seller: Block; readonly buyer: Block } {
  const { words } = context
  if (invoice.billing_type === 'SELF_BILLING')
    return {
      seller: customerBlock(words.supplier, invoice, context),
      buyer: issuerBlock(words.selfBiller, invoice, context),
    }
  return { seller: issuerBlock(words.from, invoice, context), buyer: customerBlock(words.to, invoice, context) }
}

/** The billing entity: name, address, tax ids, registration number, contact, and the custom fields that readers see. */
function issuerBlock(head: string, invoice: InvoiceView, context: Context): Block {
  const entity = issuerOf(invoice)
  return block(head, entity.legal_name ?? entity.reference, [
    ...addressLines(entity.registered_address, context),
    ...taxIdLines(entity, context),
    ...registrationLines(invoice, context),
    labelled(context.words.registrationNumber, entity.registration_number),
    entity.email,
    ...copiedFieldLines(invoice, ['BILLING_ENTITY']),
  ])
}

/** The customer: name, address, tax ids, registration number, and the custom fields that readers see. */
function customerBlock(head: string, invoice: InvoiceView, context: Context): Block {
  const customer = customerOf(invoice)
  const { organization } = customer
  return block(head, customerName(customer), [
    ...addressLines(addressOf(customer), context),
    ...taxIdLines(organization, context),
    labelled(context.words.registrationNumber, organization?.registration_number),
    ...copiedFieldLines(invoice, ['CUSTOMER', 'PRICING_PLAN_SUBSCRIPTION']),
  ])
}

const block = (head: string, name: string, lines: readonly Line[]): Block => ({
  head,
  name: printable(name),
  lines: lines.flatMap(line => (line ? [printable(line)] : [])).filter(line => line !== ''),
})

const labelled = (label: string, value: Line): Line => (value ? `${label}: ${value}` : null)

const TAX_ID_NAMES: Readonly<Record<Exclude<TaxIdType, 'GENERIC_TAX_ID'>, string>> = {
  AU_GST: 'ABN',
  CA_GST_HST: 'GST/HST',
  CA_PST: 'PST',
  CA_PST_BC: 'PST (BC)',
  CA_PST_MB: 'RST (MB)',
  CA_PST_SK: 'PST (SK)',
  CA_QST: 'QST',
}

const taxIdLines = (company: Pick<HasTaxIds, 'tax_id' | 'tax_ids'> | null, { words }: Context): Line[] => [
  labelled(words.taxId, company?.tax_id),
  ...(company?.tax_ids ?? []).map(({ id, type, display_name }) =>
    labelled(display_name ?? (type === 'GENERIC_TAX_ID' ? words.taxId : TAX_ID_NAMES[type]), id),
  ),
]

/** The ids of the registrations whose countries' tax is charged; those of the registered address are shown anyway. */
function registrationLines(invoice: InvoiceView, context: Context): Line[] {
  const { used_tax_registration: used, other_tax_registrations: others = [] } = invoice
  return [...(used ? [used] : []), ...others].flatMap(each =>
    taxIdLines(each, context).flatMap(line => (line ? `${each.country} ${line}` : [])),
  )
}

/** Custom fields of the parties that readers of the invoice see. */
const copiedFieldLines = ({ other_custom_fields = [] }: InvoiceView, types: readonly string[]): Line[] =>
  other_custom_fields
    .filter(({ resource }) => types.includes(resource.type))
    .map(({ name, reference, value, values = [] }) => labelled(name ?? reference, value ?? values.join(', ')))

/** Countries that write the postal code after the town; the others write it before. */
const CODE_BEHIND = new Set(['AU', 'CA', 'GB', 'IE', 'IN', 'NZ', 'SG', 'TH', 'US', 'ZA'])

function addressLines(address: AddressInput | null, { formats }: Context): Line[] {
  if (!address) return []
  const { city, postal_code: code, state, country } = address
  const behind = country !== null && country !== undefined && CODE_BEHIND.has(country)
  const joined = (parts: readonly Line[], by: string) => parts.filter(part => !!part).join(by)
  const town = behind ? joined([joined([city, state], ', '), code], ' ') : joined([code, city], ' ')
  return [address.line1, address.line2, town, behind ? null : state, country ? formats.country(country) : null]
}
