// Thrown where the answer of a tax engine is needed now. Whoever may leave the database asks, and tries again (with-answers.ts).
import type { LocalDate } from '../../../../../shared/billing/local-days.ts'
import type { KeyedQuestion } from '../../../../../shared/billing/tax/tax-engine.ts'
import { AppError } from '../../../../../shared/errors.ts'

export type NeededAnswer = KeyedQuestion & {
  /** The local day as of which it is needed. */
  readonly asOf: LocalDate
}

/** As a refusal it stands for a call that cannot ask. */
export class MissingTaxAnswer extends AppError {
  readonly needed: readonly NeededAnswer[]

  constructor(needed: readonly NeededAnswer[], message: string, field: string) {
    super('INVALID_OPERATION', message, { field })
    this.needed = needed
  }
}
