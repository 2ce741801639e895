// Asks VIES for the tax ids of one customer, and saves what it says. Asking is outside of any transaction.
import { isDeepStrictEqual } from 'node:util'
import { type Database, inTenant, readTenant, SERVICE } from '../../../../shared/database/database.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { saveChange } from '../../../resource/commands.ts'
import { findOne, lockOne } from '../../../resource/store.ts'
import { customerResource } from '../customers/resource.ts'
import type { TaxIdValidation } from '../tax-ids/schema.ts'
import { type Checked, isUnverified, validationsIn, withValidations } from './each-validation.ts'
import { queryVies, type Vies, type ViesAnswer } from './query-vies.ts'
import { viesNumber } from './vies-number.ts'

export type ViesDeps = {
  readonly database: Database
  /** Null where the installation asks no authority. */
  readonly vies: Vies | null
}

type ViesRun = {
  readonly tenant: Tenant
  readonly customerId: string
  /** Whether this is the last try: what could not be asked then stays UNKNOWN. */
  readonly last: boolean
  readonly stop: AbortSignal
}

/** Checks every tax id of the customer that is of the EU and unproven. Throws when VIES could not say, to be tried again. */
export async function checkWithVies(deps: ViesDeps, { tenant, customerId, last, stop }: ViesRun): Promise<void> {
  const { vies } = deps
  if (!vies) return
  const customer = await readTenant(deps.database, tenant, uow => findOne(uow, customerResource, customerId))
  const answers = new Map<string, ViesAnswer>()
  for (const checked of validationsIn(customer?.organization ?? {}).filter(isUnverified)) {
    const number = await viesNumber({ id: checked.result.id, type: checked.type, country: checked.country })
    if (number && !answers.has(keyOf(checked))) answers.set(keyOf(checked), await queryVies(vies, number, stop))
  }
  const known = [...answers].filter(([, { kind }]) => last || kind !== 'FAILED')
  if (known.length > 0) await save(deps.database, tenant, { customerId, answers: new Map(known) })
  const failures = [...answers.values()].flatMap(answer => (answer.kind === 'FAILED' ? [answer.reason] : []))
  if (failures.length > 0 && !last)
    throw new Error(`VIES could not say whether a tax id exists: ${failures.join(', ')}`)
}

const keyOf = ({ type, country, result }: Checked): string => `${type} ${country} ${result.id}`

type Answers = { readonly customerId: string; readonly answers: ReadonlyMap<string, ViesAnswer> }

/** Saves the answers beside the ids that are still there. */
const save = (database: Database, tenant: Tenant, { customerId, answers }: Answers): Promise<void> =>
  inTenant(database, tenant, SERVICE, async uow => {
    const customer = await lockOne(uow, customerResource, customerId)
    if (!customer?.organization) return
    const validation_date = formatInstant(uow.now)
    const organization = withValidations(customer.organization, checked => {
      const answer = isUnverified(checked) ? answers.get(keyOf(checked)) : undefined
      return answer ? { id: checked.result.id, validation_date, source: 'VIES', ...verdictOf(answer) } : checked.result
    })
    if (!isDeepStrictEqual(organization, customer.organization))
      await saveChange(uow, customerResource, customer, { organization })
  })

function verdictOf(answer: ViesAnswer): Pick<TaxIdValidation, 'valid' | 'message'> {
  switch (answer.kind) {
    case 'VALID':
      return { valid: 'VALID', message: 'The id exists, says VIES.' }
    case 'NOT_VALID':
      return { valid: 'NOT_VALID', message: 'There is no such id, says VIES.' }
    case 'FAILED':
      return {
        valid: 'UNKNOWN',
        message: `The form is right; VIES could not say whether the id exists: ${answer.reason}.`,
      }
  }
}
