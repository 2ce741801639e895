// How far the tax ids of an invoice's parties can be trusted, and the warnings to read before the invoice becomes
// FINAL.
import type { TaxBuyer, TaxDecided } from '../../../../shared/billing/tax.ts'
import type { TaxIdValidation } from '../../parties/tax-ids/schema.ts'
import type { HasTaxIds } from '../../parties/tax-ids/with-checks.ts'
import type { Finding } from './draft-invoice.ts'
import type { Parties } from './parties.ts'

type BestTaxId = {
  readonly status: TaxBuyer['taxId']
  /** The id and the result of its check; null when there is none, or for an id saved before ids were checked. */
  readonly id: string | null
  readonly message: string | null
}

const WORTH = ['VALID', 'UNKNOWN', 'NOT_VALID', 'MISSING'] as const

/** The tax id that counts for reverse charge: the best-checked one of the ids without a country's own type. */
export function bestTaxId(company: HasTaxIds | null): BestTaxId {
  const { tax_id, tax_id_validation_result: result, tax_ids } = company ?? {}
  const known = [
    ...(tax_id ? [knownAs(tax_id, result)] : []),
    ...(tax_ids ?? [])
      .filter(({ type }) => type === 'GENERIC_TAX_ID')
      .map(each => knownAs(each.id, each.tax_id_validation_result)),
  ]
  const [best] = known.toSorted((a, b) => WORTH.indexOf(a.status) - WORTH.indexOf(b.status))
  return best ?? { status: 'MISSING', id: null, message: null }
}

const knownAs = (id: string, result: TaxIdValidation | null | undefined): BestTaxId => ({
  id,
  status: result?.valid ?? 'UNKNOWN',
  message: result?.message ?? null,
})

/**
 * Warnings about the tax ids that decide the tax: an invoice must not shift or collect tax on an unproven id unnoticed.
 */
export function taxIdFindings({ customer, billing_entity }: Parties, decision: TaxDecided): Finding[] {
  const details = [
    ...(decision.treatment === 'REVERSE_CHARGE' && customer.type === 'ORGANIZATION'
      ? reverseCharge(bestTaxId(customer.organization))
      : []),
    ...(decision.treatment === 'LOCAL_RATE' ? ownIds(billing_entity) : []),
  ]
  return details.map(text => ({ status: 'WARNING', details: text }))
}

function reverseCharge({ status, id, message }: BestTaxId): string[] {
  const shifted = 'so reverse charge rests on an unproven id'
  switch (status) {
    case 'VALID':
      return []
    case 'MISSING':
      return ['The customer has no tax id, and tax is reverse-charged all the same: local VAT for a missing id is off.']
    case 'NOT_VALID':
      return [`The tax id of the customer is not valid, ${shifted}. ${message ?? ''}`.trim()]
    case 'UNKNOWN':
      return [`No authority has confirmed the tax id ${JSON.stringify(id)} of the customer, ${shifted}.`]
  }
}

/** A tax is collected under an id of these types and the id is printed, so a wrong one needs a warning. */
const ownIds = ({ tax_ids }: HasTaxIds): string[] =>
  (tax_ids ?? []).flatMap(({ type, tax_id_validation_result: result }) =>
    type !== 'GENERIC_TAX_ID' && result?.valid === 'NOT_VALID'
      ? [`A tax id of the billing entity is not valid. ${result.message}`]
      : [],
  )
