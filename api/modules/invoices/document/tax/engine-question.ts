// What a tax engine is asked about an invoice, and the answers that are kept with its parties.
import { hash } from 'node:crypto'
import type { LocalDate } from '../../../../../shared/billing/local-days.ts'
import type {
  EngineAddress,
  EngineParty,
  EngineQuestion,
  OpenQuestion,
} from '../../../../../shared/billing/tax/tax-engine.ts'
import type { HasTaxIds } from '../../../parties/tax-ids/with-checks.ts'
import type { BillingType } from '../../table.ts'
import { type AddressInput, addressOf, type BillingEntityInput, type CustomerInput, type Parties } from '../parties.ts'

/** Whether a tax engine decides the tax of what this billing entity invoices. */
export const usesEngine = ({ tax_settings }: Pick<BillingEntityInput, 'tax_settings'>): boolean =>
  tax_settings?.provider === 'EXTERNAL'

/** The same for the same question, however its parts were read. */
export const engineQuestionKey = (question: EngineQuestion): string => hash('sha256', JSON.stringify(question))

/** Whether an invoice with this question may become FINAL on the day `today`: it is answered as of then, or as of the invoice date. */
export const isAnswered = ({ as_of, question }: OpenQuestion, today: LocalDate): boolean =>
  as_of !== null && as_of >= (question.date < today ? question.date : today)

type Asked = {
  readonly parties: Pick<Parties, 'customer' | 'billing_entity'>
  readonly on: LocalDate
  readonly billingType: BillingType
  /** In place of a country that an address does not give. */
  readonly country: string
}

/** Members in a fixed order, because the key follows from their text. */
export function engineQuestionOf({ parties, on, billingType, country }: Asked): EngineQuestion {
  const { customer, billing_entity } = parties
  const selfBilled = billingType === 'SELF_BILLING'
  const entity = entityParty(billing_entity, country)
  const buyer = customerParty(customer, country)
  const organization = customer.type === 'ORGANIZATION' ? customer.organization : null
  return {
    version: 1,
    date: on,
    billing_type: billingType,
    tax_category: 'STANDARD',
    seller: { ...(selfBilled ? buyer : entity), registrations: selfBilled ? [] : registrationsOf(billing_entity) },
    buyer: {
      ...(selfBilled ? entity : buyer),
      tax_exempt: organization?.tax_exempt === true,
      tax_exempt_percentage: organization?.tax_exempt_percentage ?? null,
    },
  }
}

const entityParty = (entity: BillingEntityInput, country: string): EngineParty => ({
  id: entity.id,
  reference: entity.reference,
  type: 'ORGANIZATION',
  address: addressIn(entity.registered_address, country),
  tax_ids: taxIdsOf(entity),
})

const customerParty = (customer: CustomerInput, country: string): EngineParty => ({
  id: customer.id,
  reference: customer.reference,
  type: customer.type,
  address: addressIn(addressOf(customer), country),
  tax_ids: customer.type === 'ORGANIZATION' && customer.organization ? taxIdsOf(customer.organization) : [],
})

const addressIn = (address: AddressInput | null, country: string): EngineAddress => ({
  line1: address?.line1 ?? null,
  line2: address?.line2 ?? null,
  city: address?.city ?? null,
  postal_code: address?.postal_code ?? null,
  state: address?.state ?? null,
  country: address?.country ?? country,
})

const taxIdsOf = ({ tax_id, tax_ids }: HasTaxIds): EngineParty['tax_ids'] => [
  ...(tax_id ? [{ type: 'GENERIC_TAX_ID', id: tax_id }] : []),
  ...(tax_ids ?? []).map(({ type, id }) => ({ type, id })),
]

const registrationsOf = ({ tax_registrations }: BillingEntityInput): EngineQuestion['seller']['registrations'] =>
  (tax_registrations ?? []).flatMap(each =>
    each.registered_address?.country ? [{ country: each.registered_address.country, tax_ids: taxIdsOf(each) }] : [],
  )
