// The amounts of all charges of an invoice, its own and late ones, before clauses and tax.
import type { AmountType } from '../../../../shared/billing/amount-pipeline.ts'
import { AppError } from '../../../../shared/errors.ts'
import { mapPausing, type PausingWork } from '../../../../shared/pausing-work.ts'
import { isInCredits } from '../../../../shared/rating/credits.ts'
import { formatInstant } from '../../../../shared/time.ts'
import type { Finding } from '../../invoices/document/draft-invoice.ts'
import { roundingOf } from '../../invoices/document/parties.ts'
import type { Charge } from '../charges/charge.ts'
import type { LateCharge } from '../late/late-usage.ts'
import { creditsToSell, lateInCredits, rateInCredits } from '../rating/credit-charges.ts'
import { lacksExchangeRate } from '../rating/foreign-usage.ts'
import { isZeroUsage, type RatedCharge, rateCharge, rateLate } from '../rating/rate-charge.ts'
import { type BillingInputs, usingCustomer } from '../terms/billing-inputs.ts'
import type { InvoiceRequest } from './invoice-request.ts'

export type RatedInvoice = {
  readonly charges: readonly Charge[]
  /** Every charge, including those without a line. */
  readonly all: readonly RatedCharge[]
  readonly onInvoice: readonly RatedCharge[]
  readonly findings: readonly Finding[]
}

/** Rates the charges of the invoice and the late usage beside them. Throws INVALID_OPERATION when a price cannot be billed. */
export function* rateCharges(
  inputs: BillingInputs,
  request: InvoiceRequest,
  own: readonly Charge[],
): PausingWork<RatedInvoice> {
  const late = rateLateCharges(inputs, request, own)
  const inCredits = rateInCredits(own, late.inCredits, request.credits ?? [], {
    usage: request.usage,
    usageByCustomer: request.usageByCustomer ?? null,
    ownId: usingCustomer(inputs).id,
  })
  const toSell = creditsToSell(own, inCredits)
  const ownRated = yield* mapPausing(
    own,
    charge =>
      inCredits.get(charge.key) ?? rateCharge(charge, request.usage, roundingOf(inputs), toSell.get(charge.key)),
  )
  const lateRated = [...late.rated, ...late.inCredits.flatMap(({ charge }) => inCredits.get(charge.key) ?? [])]
  const showZero = inputs.platform.invoice_settings.add_zero_meter_value_invoice_lines === true
  return {
    charges: [...own, ...lateRated.map(({ charge }) => charge)],
    all: [...ownRated, ...lateRated],
    onInvoice: [...ownRated.filter(each => showZero || !isZeroUsage(each)), ...lateRated],
    findings: late.findings,
  }
}

/**
 * The amounts of late usage. Late usage that cannot be billed becomes a finding: it must not keep the invoice from
 * billing the rest, and a missing exchange rate keeps it DRAFT.
 */
function rateLateCharges(
  inputs: BillingInputs,
  { late = [], usage }: InvoiceRequest,
  own: readonly Charge[],
): {
  readonly rated: readonly RatedCharge[]
  /** Those priced in credits, which are rated with the other usage that draws credits. */
  readonly inCredits: readonly LateCharge[]
  readonly findings: readonly Finding[]
} {
  const rated: RatedCharge[] = []
  const inCredits: LateCharge[] = []
  const findings: Finding[] = []
  const rounding = roundingOf(inputs)
  for (const each of late) {
    try {
      const drawsCredits = isInCredits(each.charge.config)
      const one = drawsCredits ? null : rateLate(each, { usage, rounding })
      if (drawsCredits ? lateInCredits(each, usage) === null : one === null) continue
      amountTypeOf([...own, ...[...rated, ...inCredits].map(({ charge }) => charge), each.charge])
      if (one) rated.push(one)
      else inCredits.push(each)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const { charge } = each
      const time = `${formatInstant(charge.service.start)} to ${formatInstant(charge.service.end)}`
      const details = `Late usage of ${charge.productItem.name} (${time}) is not on this invoice: ${error.message}`
      // Usage without a rate is billed once there is one: the invoice waits for it, as for usage of its own period.
      findings.push({ status: lacksExchangeRate(charge, usage) ? 'ERROR' : 'WARNING', details })
    }
  }
  return { rated, inCredits, findings }
}

/** One invoice is taxed one way: plans with prices including tax and excluding tax cannot share it. */
export function amountTypeOf(charges: readonly Pick<Charge, 'plan'>[]): AmountType {
  const types = new Set(charges.map(charge => charge.plan.amount_type))
  if (types.size > 1) {
    throw new AppError('INVALID_OPERATION', 'One invoice cannot mix plans with prices excluding and including tax.', {
      field: 'amount_type',
    })
  }
  return [...types][0] ?? 'EXCLUDING_TAX'
}
