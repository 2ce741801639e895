// What a catalog file, or a call that plans it, may demand of its prices: how much they may change what customers pay.
// The catalog knows no invoices, so the module that rates them registers here.
import Type, { type Static } from 'typebox'
import type { Actor, Database, Uow } from '../../../../shared/database/database.ts'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import type { Place } from '../../../resource/rules.ts'
import { DecimalText, Nullable, Optional, Shape } from '../../../resource/shapes.ts'

export const PERIODS_MAX = 12

export const LIMIT_TEXTS = {
  max_revenue_change:
    'How many percent the total of any currency may rise or fall: `"10"` is ten percent. Absent: any change.',
  max_customer_increase: 'How many percent more any customer may pay: `"10"` is ten percent. Absent: any rise.',
}
const Percentage = (description: string) => Optional(Nullable({ ...DecimalText, description }))
const Limits = {
  periods: Optional(
    Nullable(
      Type.Integer({
        minimum: 1,
        maximum: PERIODS_MAX,
        description: 'How many closed periods of each subscription are rated, newest first. Default: 1.',
      }),
    ),
  ),
  max_revenue_change: Percentage(LIMIT_TEXTS.max_revenue_change),
  max_customer_increase: Percentage(LIMIT_TEXTS.max_customer_increase),
}

export const RevenueLimits = Shape(Limits, { title: 'RevenueLimits' })
export type RevenueLimits = Static<typeof RevenueLimits>

/** Throws INVALID_FIELD, with the path behind `prefix`, for a limit below 0. */
export function requireLimits(limits: RevenueLimits, prefix: string): void {
  for (const name of ['max_revenue_change', 'max_customer_increase'] as const) {
    const limit = limits[name]
    if (limit && decimal(limit).lt(ZERO))
      throw new AppError('INVALID_FIELD', 'A limit is a percentage of 0 or more.', { field: `${prefix}${name}` })
  }
}

/** A version that a file creates or changes. It may exist only in the unit of work in which the file is tried. */
export type TriedVersion = {
  readonly planId: string
  readonly versionId: string
  /** Whether it exists without the file. */
  readonly isStored: boolean
  /** Such as `standard@2`. */
  readonly reference: string
}

export const GateResult = Type.Object(
  {
    status: Type.Enum(['IN_PROGRESS', 'PASSED', 'FAILED'], {
      description: 'IN_PROGRESS: plan the same file again to read the result.',
    }),
    simulations: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'Read it at `/v1/pricing-plan-version-simulations/{id}`.' }),
          catalog_reference: Nullable(Type.String({ description: 'The version in the file, such as `standard@2`.' })),
          status: Type.Enum(['SCHEDULED', 'IN_PROGRESS', 'DONE', 'FAILED', 'CANCELLED', 'ERROR'], {
            description: 'The status of the simulation.',
          }),
          percentage: Type.Integer({ description: 'The percentage of the customers that have been rated.' }),
          messages: Type.Array(Type.String(), { description: 'The limits that do not hold, and by how much.' }),
        },
        { title: 'RevenueGateSimulation' },
      ),
      { description: 'One for each version that the file creates or changes, of plans that exist.' },
    ),
  },
  { title: 'RevenueGateResult' },
)
export type GateResult = Static<typeof GateResult>

type Caller = { readonly database: Database; readonly tenant: Tenant; readonly actor: Actor }

export type Gatekeeper = {
  /**
   * Reads what these versions sell, in the unit of work in which the file is tried. The answer simulates them outside of
   * it, and waits a moment for the result.
   */
  read(
    uow: Uow,
    of: { readonly versions: readonly TriedVersion[]; readonly gate: RevenueLimits; readonly fileHash: string },
  ): Promise<(caller: Caller) => Promise<GateResult>>
}

export const GATE: Place<Gatekeeper> = { name: 'revenue gate of catalog files' }
