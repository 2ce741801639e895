// The revenue gate of catalog files: simulates the versions that a file creates or changes, and says whether its limits
// hold. Planning the same file again finds the simulations of before, so that a long one is followed by repeating the call.
import { setTimeout as sleep } from 'node:timers/promises'
import { and, desc, eq, gt, isNull, notInArray, or } from 'drizzle-orm'
import { inTenant, readTenant, type Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { Gatekeeper, GateResult } from '../../catalog/as-code/revenue-gate.ts'
import { createSimulation, fingerprintOf, getSimulation, isFinished, type NewSimulation } from './simulations.ts'
import { readCandidate } from './start-simulation.ts'
import { type Simulation, versionSimulations as table } from './table.ts'

/** How long a call waits for simulations; those of a few hundred customers end meanwhile. */
const WAIT_MS = 15_000
const POLL_MS = 250
/** How long a result is used again. */
const FRESH_MS = 15 * 60_000
const PERMISSION = 'PRICING_PLAN_VERSION_SIMULATION.CREATE'

export const gatekeeper: Gatekeeper = {
  read: async (uow, { versions, gate, fileHash }) => {
    if (uow.actor.may?.(PERMISSION) === false) {
      const message = `The file has a revenue_gate, which needs the permission ${PERMISSION}.`
      throw new AppError('USER_NOT_ALLOWED', message, { field: 'revenue_gate' })
    }
    const wanted: NewSimulation[] = []
    for (const { planId, versionId, isStored, reference } of versions) {
      const candidate = await readCandidate(uow, { planId, versionId })
      // A version without prices can be on no invoice.
      if (candidate.catalog.pricings.length === 0) continue
      wanted.push({ candidate, limits: gate, file: { reference, isStored, hash: fileHash } })
    }
    return async ({ database, tenant, actor }) => {
      const started = await inTenant(database, tenant, actor, async uowOf => {
        const ids: string[] = []
        for (const each of wanted) ids.push((await findOrCreate(uowOf, each)).id)
        return ids
      })
      const look = () =>
        readTenant(database, tenant, async uowOf => {
          const rows: Simulation[] = []
          for (const id of started) rows.push(await getSimulation(uowOf, id))
          return rows
        })
      let rows = await look()
      for (let waited = 0; !rows.every(isFinished) && waited < WAIT_MS; waited += POLL_MS) {
        await sleep(POLL_MS)
        rows = await look()
      }
      return resultOf(rows)
    }
  },
}

async function findOrCreate(uow: Uow, wanted: NewSimulation): Promise<Pick<Simulation, 'id'>> {
  const since = formatInstant(instantOf(uow.now - FRESH_MS))
  const [known] = await uow.tx
    .select({ id: table.id })
    .from(table)
    .where(
      and(
        inThisTenant(uow, table),
        eq(table.fingerprint, fingerprintOf(wanted)),
        notInArray(table.status, ['CANCELLED', 'ERROR']),
        or(isNull(table.finished_at), gt(table.finished_at, since)),
      ),
    )
    .orderBy(desc(table.created_at))
    .limit(1)
  return known ?? (await createSimulation(uow, wanted))
}

function resultOf(rows: readonly Simulation[]): GateResult {
  const passed = rows.every(({ status }) => status === 'DONE')
  return {
    status: passed ? 'PASSED' : rows.every(isFinished) ? 'FAILED' : 'IN_PROGRESS',
    simulations: rows.map(({ id, catalog_reference, status, percentage, message, result }) => ({
      id,
      catalog_reference,
      status,
      percentage,
      messages: [...(message === null ? [] : [message]), ...(result?.breaches.map(each => each.message) ?? [])],
    })),
  }
}
