import { describe, expect, test } from 'vitest'
import type { PeriodLength } from '../../../../shared/billing/periods.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Place, planMove } from './plan-move.ts'

type Group = NonNullable<Parameters<typeof planMove>[0]>
const group: Group = {
  id: 'ppgr_1',
  status: 'ACTIVE',
  pricing_plan_ids: ['small', 'medium', 'large'],
  upgrade_type: 'IMMEDIATE_PRO_RATA',
  downgrade_type: 'NEXT_BILLING_PERIOD',
}
const of = (type: PeriodLength['type'], value = 1): PeriodLength => ({ type, value })
const on = (planId: string, billingPeriod = of('MONTH')): Place => ({ planId, billingPeriod })

describe('direction', () => {
  test.each<[string, Place, Place, string, string]>([
    ['to the next plan', on('small'), on('medium'), 'UPGRADE', 'IMMEDIATE_PRO_RATA'],
    ['over one', on('small'), on('large'), 'UPGRADE', 'IMMEDIATE_PRO_RATA'],
    ['back', on('large'), on('small'), 'DOWNGRADE', 'NEXT_BILLING_PERIOD'],
    ['from a month to a year', on('small'), on('small', of('YEAR')), 'UPGRADE', 'IMMEDIATE_PRO_RATA'],
    [
      'from a year to a quarter',
      on('small', of('YEAR')),
      on('small', of('MONTH', 3)),
      'DOWNGRADE',
      'NEXT_BILLING_PERIOD',
    ],
    ['from four weeks to a month', on('small', of('WEEK', 4)), on('small'), 'UPGRADE', 'IMMEDIATE_PRO_RATA'],
    ['from 31 days to a month', on('small', of('DAY', 31)), on('small'), 'DOWNGRADE', 'NEXT_BILLING_PERIOD'],
  ])('%s', (_name, from, to, direction, type) => {
    expect(planMove(group, from, to)).toEqual({ direction, type })
  })
})

describe('refuses', () => {
  test.each<[string, Group | null, Place, Place, object]>([
    [
      'a plan without a group',
      null,
      on('small'),
      on('large'),
      { code: 'INVALID_OPERATION', field: 'pricing_plan_id', resource_id: 'small' },
    ],
    ['a plan of another group', group, on('small'), on('other'), { code: 'INVALID_FIELD', field: 'pricing_plan_id' }],
    [
      'a group that is not ACTIVE',
      { ...group, status: 'DEPRECATED' },
      on('small'),
      on('large'),
      { code: 'INVALID_OPERATION', field: 'pricing_plan_id', resource_id: 'ppgr_1' },
    ],
    [
      'what the group does not allow',
      { ...group, downgrade_type: 'NOT_ALLOWED' },
      on('large'),
      on('small'),
      { code: 'INVALID_OPERATION', field: 'pricing_plan_id', resource_id: 'ppgr_1' },
    ],
    [
      'a billing period that the group does not allow',
      { ...group, downgrade_type: 'NOT_ALLOWED' },
      on('small', of('YEAR')),
      on('small', of('MONTH')),
      { code: 'INVALID_OPERATION', field: 'billing_period', resource_id: 'ppgr_1' },
    ],
    ['the plan it is on', group, on('small'), on('small'), { code: 'INVALID_OPERATION', field: 'pricing_plan_id' }],
    [
      'twelve months for a year',
      group,
      on('small', of('YEAR')),
      on('small', of('MONTH', 12)),
      { code: 'INVALID_OPERATION', field: 'pricing_plan_id' },
    ],
  ])('%s', (_name, given, from, to, refusal) => {
    let refused: unknown = null
    try {
      planMove(given, from, to)
    } catch (error) {
      refused = error instanceof AppError ? error.toBody() : error
    }
    expect(refused).toMatchObject(refusal)
  })
})
