// How far the tax ids of an invoice's parties can be trusted, and the warnings to read before the invoice becomes
// FINAL.
import type { TaxBuyer, TaxDecided } from '../../../../../shared/billing/tax/tax.ts'
import type { TaxIdValidation } from '../../../parties/tax-ids/schema.ts'
import type { HasTaxIds } from '../../../parties/tax-ids/with-checks.ts'
import type { Finding } from '../draft-invoice.ts'
import { named, type TaxSide } from './tax-sides.ts'

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
export function taxIdFindings({ seller, buyer }: Sides, decision: TaxDecided): Finding[] {
  const details = [
    ...(decision.treatment === 'REVERSE_CHARGE' && buyer.company !== null ? reverseCharge(buyer) : []),
    ...(decision.treatment === 'LOCAL_RATE' ? ownIds(seller) : []),
    ...(seller.isCustomer && decision.rates.length > 0 && !hasIds(seller) ? [UNREGISTERED_SUPPLIER] : []),
  ]
  return details.map(text => ({ status: 'WARNING', details: text }))
}

type Sides = { readonly seller: TaxSide; readonly buyer: TaxSide }

const hasIds = ({ company }: TaxSide): boolean => !!company?.tax_id || (company?.tax_ids ?? []).length > 0

/** Only a supplier who is registered for a tax may show it on an invoice. */
const UNREGISTERED_SUPPLIER =
  'The customer, who supplies, has no tax id, and this self-billing invoice charges tax. Set its tax id, or make it tax_exempt.'

function reverseCharge(buyer: TaxSide): string[] {
  const { status, id, message } = bestTaxId(buyer.company)
  const shifted = 'so reverse charge rests on an unproven id'
  switch (status) {
    case 'VALID':
      return []
    case 'MISSING':
      return [
        `${buyer.says} has no tax id, and tax is reverse-charged all the same: local VAT for a missing id is off.`,
      ]
    case 'NOT_VALID':
      return [`The tax id of ${named(buyer)} is not valid, ${shifted}. ${message ?? ''}`.trim()]
    case 'UNKNOWN':
      return [`No authority has confirmed the tax id ${JSON.stringify(id)} of ${named(buyer)}, ${shifted}.`]
  }
}

/** A tax is collected under an id of these types and the id is printed, so a wrong one needs a warning. */
const ownIds = (seller: TaxSide): string[] =>
  (seller.company?.tax_ids ?? []).flatMap(({ type, tax_id_validation_result: result }) =>
    type !== 'GENERIC_TAX_ID' && result?.valid === 'NOT_VALID'
      ? [`A tax id of ${named(seller)} is not valid. ${result.message}`]
      : [],
  )
