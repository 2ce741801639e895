// Which of the terms of one price holds at a moment. Pure.
import { isWithin } from '../../../../shared/billing/periods.ts'
import type { Instant } from '../../../../shared/time.ts'
import type { PriceTerm } from './price-terms.ts'

/** An ADDON has a term for each time in which it is enabled, any other price has one. Undefined where none holds then. */
export const termAt = (terms: readonly PriceTerm[], instant: Instant): PriceTerm | undefined =>
  terms.find(({ calendar }) => calendar !== null && isWithin(calendar.span, instant))
