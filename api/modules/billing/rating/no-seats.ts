// Charges of no seats, and what invoices charge for them: nothing but what is missing of a minimum. Pure.
import { timeOfMinimum } from '../../../../shared/billing/steps/commitments.ts'
import { applicableTime } from '../../../../shared/billing/steps/step.ts'
import { ZERO } from '../../../../shared/decimal.ts'
import { type ClauseEntry, clauseEntries } from '../../subscriptions/clauses/clause-entries.ts'
import type { Charge } from '../charges/charge.ts'
import { mayBeOf } from '../charges/invoices-of-charges.ts'
import { idOfClause, isOf } from '../terms/clauses-of-prices.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import { seatsByDefault } from '../terms/term-seats.ts'
import type { InvoiceWindow } from '../terms/windows.ts'
import { spanOfClause } from './clauses-of.ts'

/** Of seats, and of none of them. */
export const isOfNoSeats = ({ productItem, seats, config }: Charge): boolean =>
  productItem.model_type === 'PER_SEAT' && (seats?.number ?? seatsByDefault(config)).eq(ZERO)

type OfInvoice = {
  readonly window: InvoiceWindow
  readonly terms: readonly PriceTerm[]
  /** The keys of what other invoices charge ahead, with the minimums that they reached ahead. */
  readonly elsewhere: ReadonlySet<string>
  /** Whether it is the invoice to be made, and not one of the others. */
  readonly isOwn: boolean
}

/**
 * Whether an invoice charges a minimum for a charge of no seats. Such a charge makes no line, so it has no key that tells which invoice had
 * it, and it is among the charges of each invoice of its period. A minimum that was charged ahead has a key.
 */
export function reachesMinimum(charge: Charge, { window, terms, elsewhere, isOwn }: OfInvoice): boolean {
  const minimums = clauseEntries('commitment', charge.schedule).filter(entry => appliesTo(entry, charge, window))
  if (!charge.inAdvance) return minimums.length > 0
  return minimums.some(entry => {
    if (entry.level === null || !isAhead(entry, charge, terms)) return false
    const keys = [...elsewhere].filter(key => isReachedBy(key, entry, charge))
    if (isOwn) return keys.length === 0
    return keys.some(key => mayBeOf(elsewhere, { key, start: charge.period.covered.start }, window.cutoffAt))
  })
}

/** Whether a minimum is one of the charge and its time. One of the whole invoice is for the time that the invoice collects. */
function appliesTo(entry: ClauseEntry, charge: Charge, { arrears }: InvoiceWindow): boolean {
  const time = entry.level === null ? arrears : charge.period.covered
  return time !== null && isOf(entry, charge) && applicableTime(spanOfClause(charge.schedule, entry), time) !== null
}

/** Whether all prices of a minimum are charged in advance. If not, it waits for those in arrears. */
const isAhead = (entry: ClauseEntry, { schedule }: Charge, terms: readonly PriceTerm[]): boolean =>
  terms.every(term => term.schedule.id !== schedule.id || !isOf(entry, term) || term.inAdvance)

const isReachedBy = (key: string, { path }: ClauseEntry, { schedule, period }: Charge): boolean =>
  timeOfMinimum(key, idOfClause(schedule.id, path))?.start === period.covered.start
