// What follows from changes for the questions to the tax engine.
import type { Uow } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { afterSave, beforeSave, type Installation } from '../../../../resource/rules.ts'
import { billingEntityResource } from '../../../parties/billing-entities/billing-entity.ts'
import type { BillingEntity } from '../../../parties/billing-entities/table.ts'
import { customerResource } from '../../../parties/customers/resource.ts'
import type { Customer } from '../../../parties/customers/table.ts'
import { usesEngine } from '../../document/tax/engine-question.ts'
import { deleteTaxQuestionsOf } from './store-answers.ts'

/** Throws INVALID_FIELD for an engine that this installation does not have. */
function requireEngine(_uow: Uow, row: BillingEntity, previous: BillingEntity | null, here: Installation): void {
  if (!usesEngine(row) || (previous && usesEngine(previous)) || here.taxEngine) return
  throw new AppError('INVALID_FIELD', 'This installation has no tax engine: its operator sets TAX_ENGINE_URL.', {
    field: 'tax_settings.provider',
  })
}

const forgetCustomer = async (uow: Uow, row: Customer, previous: Customer | null): Promise<void> => {
  if (row.forgotten_at !== null && previous?.forgotten_at === null) await deleteTaxQuestionsOf(uow, row.id)
}

export const TAX_ENGINE_GUARDS = [beforeSave(billingEntityResource, requireEngine)]
export const TAX_ENGINE_EFFECTS = [afterSave(customerResource, forgetCustomer)]
