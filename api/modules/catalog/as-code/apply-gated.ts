// Applies a catalog file. With limits of a revenue gate, only once what it would change for customers is within them.
import { inTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { ActionContext } from '../../../http/route.ts'
import { applyCatalog } from './apply-catalog.ts'
import type { CatalogChange, CatalogDocument } from './schema.ts'
import { tryCatalog } from './try-catalog.ts'

/**
 * What changed. Throws INVALID_OPERATION, with the field `revenue_gate`, while the prices of the file are simulated, and when a limit
 * does not hold; then nothing is kept. Sending the file again finds the same simulation.
 */
export async function applyGated(context: ActionContext, file: CatalogDocument): Promise<CatalogChange[]> {
  if (file.revenue_gate) await requirePassed(context, file)
  const { database, tenant, actor } = context
  return await inTenant(database, tenant, actor, uow => applyCatalog(uow, file))
}

async function requirePassed(context: ActionContext, file: CatalogDocument): Promise<void> {
  const { revenue_gate: gate, refusals } = await tryCatalog(context, file)
  const refusal = refusals.find(({ field }) => field.startsWith('revenue_gate'))
  // Whatever else refuses the file refuses it again when it is applied.
  if (!refusal) return
  const isBad = refusal.code === 'INVALID_FIELD' || refusal.code === 'USER_NOT_ALLOWED'
  throw new AppError(isBad ? (refusal.code as 'INVALID_FIELD') : 'INVALID_OPERATION', textOf(refusal, gate?.status), {
    field: refusal.field,
  })
}

const textOf = ({ message }: { readonly message: string }, status: string | undefined): string =>
  status === 'IN_PROGRESS' ? `Not applied yet. ${message} Apply it when the plan has passed.` : message
