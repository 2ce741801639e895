// The questions to VIES as jobs: one for each customer whose tax ids have changed, tried again while VIES cannot answer.
import { isDeepStrictEqual } from 'node:util'
import { type Id, idOf } from '../../../../shared/ids.ts'
import { defineJob, queueJobs } from '../../../jobs/define-job.ts'
import { type TenantPayload, tenantOf } from '../../../jobs/tenant-jobs.ts'
import type { OutboxRow } from '../../../workers/outbox-row.ts'
import { on } from '../../../workers/reaction.ts'
import type { Organization } from '../customers/schema.ts'
import { checkWithVies, type ViesDeps } from './check-with-vies.ts'
import { isUnverified, validationsIn } from './each-validation.ts'

type OneCustomer = TenantPayload & { readonly id: Id<'cust'> }

/** With the growing pauses of the queue, about sixteen hours: member states close their registers at night. */
const CHECK = { name: 'check-tax-ids', attemptsMax: 12 }

/** A job of an installation that asks no authority does nothing. */
export const viesReactions = [
  on(['CUSTOMER.CREATED', 'CUSTOMER.UPDATED'], (tx, rows) =>
    queueJobs(
      tx,
      CHECK,
      rows.filter(hasNewIds).map(({ platform_id, environment, object_id }) => ({
        key: object_id,
        payload: { platform_id, environment, id: idOf('cust', object_id) },
      })),
    ),
  ),
]

/** Whether the change gave the customer a tax id that nobody has vouched for. */
export function hasNewIds({ data, previous_data }: Pick<OutboxRow, 'data' | 'previous_data'>): boolean {
  const unproven = validationsOf(data).filter(isUnverified)
  return unproven.length > 0 && !isDeepStrictEqual(unproven, validationsOf(previous_data ?? {}).filter(isUnverified))
}

const validationsOf = ({ organization }: Record<string, unknown>) =>
  // As the resource shows it.
  organization ? validationsIn(organization as Organization) : []

export const viesJobs = [
  defineJob<ViesDeps, OneCustomer>({
    ...CHECK,
    class: 'external',
    rights: {},
    run: (deps, payload, { attempt, attemptsMax, stop }) =>
      checkWithVies(deps, { tenant: tenantOf(payload), customerId: payload.id, last: attempt >= attemptsMax, stop }),
  }),
] as const
