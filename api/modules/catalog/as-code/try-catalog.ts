// What applying a file would change, why it would be refused, and whether the limits of its revenue gate hold. The file
// is applied and rolled back, so that what apply refuses is known.
import { createHash } from 'node:crypto'
import { inTenant, readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { ActionContext } from '../../../http/route.ts'
import { extensionsOf } from '../../../resource/rules.ts'
import { applyCatalog } from './apply-catalog.ts'
import { diffCatalog } from './plan-catalog.ts'
import { readCatalog, type StoredCatalog } from './read-catalog.ts'
import { GATE, type GateResult, requireLimits, type TriedVersion } from './revenue-gate.ts'
import type { CatalogChange, CatalogDocument, CatalogRefusal } from './schema.ts'

/** Ends a unit of work that was only tried. */
class Tried extends Error {}

type Judge = (caller: ActionContext) => Promise<GateResult>

/** What the file changes, and why it cannot be applied, or must not be. Nothing of the file is kept. */
export async function tryCatalog(context: ActionContext, file: CatalogDocument) {
  const { database, tenant } = context
  const stored = await readTenant(database, tenant, uow => readCatalog(uow))
  const { changes, refusals } = diffCatalog(stored, file)
  const tried =
    refusals.length > 0 ? { refusals, judge: null } : await applyAndRollBack(context, { file, stored, changes })
  const judged = tried.judge ? await tried.judge(context) : null
  const found = [...tried.refusals, ...(judged ? refusalsOf(judged) : [])]
  return {
    object_type: 'CATALOG_PLAN',
    applicable: found.length === 0,
    changes: [...changes],
    refusals: found,
    revenue_gate: judged,
  }
}

type Trying = {
  readonly file: CatalogDocument
  readonly stored: StoredCatalog
  readonly changes: readonly CatalogChange[]
}

/** Applies the file and keeps nothing. With a revenue gate it also reads what its versions would sell. */
async function applyAndRollBack(
  { database, tenant, actor }: ActionContext,
  { file, stored, changes }: Trying,
): Promise<{ readonly refusals: readonly CatalogRefusal[]; readonly judge: Judge | null }> {
  const { revenue_gate: gate, ...entries } = file
  const outcome: { judge: Judge | null } = { judge: null }
  try {
    await inTenant(database, tenant, actor, async uow => {
      if (gate) requireLimits(gate, 'revenue_gate.')
      await applyCatalog(uow, file)
      const [keeper] = extensionsOf(uow, GATE)
      if (gate && keeper) {
        const versions = versionsOf({ before: stored, after: await readCatalog(uow), changes, file })
        const fileHash = createHash('sha256').update(JSON.stringify(entries)).digest('hex')
        outcome.judge = await keeper.read(uow, { versions, gate, fileHash })
      }
      throw new Tried()
    })
  } catch (error) {
    if (error instanceof Tried) return { refusals: [], judge: outcome.judge }
    if (!(error instanceof AppError)) throw error
    const refusal = { field: error.details.field ?? '', code: error.code, message: error.message }
    return { refusals: [refusal], judge: null }
  }
  return { refusals: [], judge: null }
}

type Versions = {
  readonly before: StoredCatalog
  readonly after: StoredCatalog
  readonly changes: readonly CatalogChange[]
  readonly file: CatalogDocument
}

/**
 * The versions that the file creates, prices again or puts in force, of plans that exist without it: a new plan has no
 * customers.
 */
function versionsOf({ before, after, changes, file }: Versions): TriedVersion[] {
  const changed = new Set(changes.filter(({ section }) => section === 'pricing_plans').map(each => each.reference))
  return (file.pricing_plans ?? []).flatMap(plan => {
    const planId = before.ids.get('pricing_plans')?.get(plan.reference)
    if (planId === undefined) return []
    return (plan.versions ?? []).flatMap((entry): TriedVersion[] => {
      const reference = `${plan.reference}@${entry.version}`
      const row = after.versions.get(planId)?.find(({ version }) => version === entry.version)
      if (!row || !changed.has(reference) || row.status === 'DEPRECATED' || row.status === 'ARCHIVED') return []
      const isStored = before.versions.get(planId)?.some(({ id }) => id === row.id) === true
      return [{ planId, versionId: row.id, isStored, reference }]
    })
  })
}

/** What keeps the gate from being passed, as refusals of the file. */
function refusalsOf({ status, simulations }: GateResult): CatalogRefusal[] {
  const of = (message: string): CatalogRefusal => ({ field: 'revenue_gate', code: 'INVALID_OPERATION', message })
  if (status === 'PASSED') return []
  return simulations.flatMap(({ id, catalog_reference: name, status: state, percentage, messages }) => {
    if (state === 'SCHEDULED' || state === 'IN_PROGRESS')
      return [of(`${name} is still simulated (${percentage} percent, ${id}); plan the same file again.`)]
    if (state === 'DONE') return []
    if (messages.length === 0) return [of(`The simulation ${id} of ${name} is ${state}; plan the file again.`)]
    return messages.map(message => of(`${name}: ${message} See the simulation ${id}.`))
  })
}
