// What follows from changes for the questions to the tax engine.
import { localDateOf } from '../../../../shared/billing/periods.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { afterSave, beforeSave, type Installation } from '../../../resource/rules.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import type { BillingEntity } from '../../parties/billing-entities/table.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import type { Customer } from '../../parties/customers/table.ts'
import { usesEngine } from '../document/engine-question.ts'
import { zoneNamed } from '../document/invoice-dates.ts'
import { INVOICE } from '../funds.ts'
import { type InvoiceRow, isOpenEnded } from '../table.ts'
import { forgetQuestionsOf, noteQuestion } from './store-answers.ts'

/** What an invoice lacks is asked by the next search; what it has from before its day, once the day has come. */
async function noteOpen(uow: Uow, row: InvoiceRow): Promise<void> {
  const { tax_question: open } = row.content
  if (!open || !isOpenEnded(row)) return
  const today = localDateOf(uow.now, zoneNamed(row.timezone))
  if (open.as_of === null || today >= open.question.date) await noteQuestion(uow, open, today)
}

/** Throws INVALID_FIELD for an engine that this installation does not have. */
function requireEngine(_uow: Uow, row: BillingEntity, previous: BillingEntity | null, here: Installation): void {
  if (!usesEngine(row) || (previous && usesEngine(previous)) || here.taxEngine) return
  throw new AppError('INVALID_FIELD', 'This installation has no tax engine: its operator sets TAX_ENGINE_URL.', {
    field: 'tax_settings.provider',
  })
}

const forgetCustomer = async (uow: Uow, row: Customer, previous: Customer | null): Promise<void> => {
  if (row.forgotten_at !== null && previous?.forgotten_at === null) await forgetQuestionsOf(uow, row.id)
}

export const TAX_ENGINE_GUARDS = [beforeSave(billingEntityResource, requireEngine)]
export const TAX_ENGINE_EFFECTS = [
  afterSave<InvoiceRow>(INVOICE, noteOpen),
  afterSave(customerResource, forgetCustomer),
]
